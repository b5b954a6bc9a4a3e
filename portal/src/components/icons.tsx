import type { ReactNode, SVGProps } from 'react';

export function Icon(props: SVGProps<SVGSVGElement>): ReactNode {
  return (
    <svg
      viewBox="0 0 24 24"
      width="20"
      height="20"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
      {...props}
    />
  );
}

/** A component that shows this drawing in the usual size. */
export const icon = (drawing: ReactNode) => (): ReactNode => <Icon>{drawing}</Icon>;

export const Mark = (): ReactNode => (
  <Icon width="32" height="32">
    <path
      d="M12 2.500 20 5.500v5.800c0 4.700-3.300 8.400-8 10.200-4.700-1.800-8-5.500-8-10.200V5.500z"
      fill="currentColor"
      fillOpacity=".18"
    />
    <path d="m8.500 11.800 2.500 2.500 4.500-5" />
  </Icon>
);

export const Check = icon(<path d="m5 12.500 4.500 4.500L19 7.500" />);

export const Eye = icon(
  <>
    <path d="M2.500 12S6 5.500 12 5.500 21.500 12 21.500 12 18 18.500 12 18.500 2.500 12 2.500 12z" />
    <circle cx="12" cy="12" r="2.750" />
  </>,
);

export const EyeOff = icon(
  <path d="M4 4l16 16M9.900 5.700A9.600 9.600 0 0 1 12 5.500c6 0 9.500 6.500 9.500 6.500a17 17 0 0 1-2.700 3.400M6.300 7.300A16.400 16.400 0 0 0 2.500 12S6 18.500 12 18.500a9.400 9.400 0 0 0 4.300-1M10 10.100a2.750 2.750 0 0 0 3.900 3.900" />,
);

export const Warning = icon(
  <>
    <path d="M12 3.500 21.500 20h-19z" />
    <path d="M12 10v4.500M12 17.200v.1" />
  </>,
);

export const Info = icon(
  <>
    <circle cx="12" cy="12" r="9" />
    <path d="M12 11v5.500M12 7.700v.1" />
  </>,
);

export const Key = icon(
  <>
    <circle cx="8" cy="15.500" r="4.500" />
    <path d="m11.200 12.300 8.300-8.300M16 7.500l3 3M13.200 10.300l2 2" />
  </>,
);

export const Mail = icon(
  <>
    <rect x="3" y="5" width="18" height="14" rx="2" />
    <path d="m3.500 7 8.500 6 8.500-6" />
  </>,
);
