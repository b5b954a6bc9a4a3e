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
    <path d="M12 2.5 20 5.5v5.8c0 4.7-3.3 8.4-8 10.2-4.7-1.8-8-5.5-8-10.2V5.5z" fill="currentColor" fillOpacity=".18" />
    <path d="m8.5 11.8 2.5 2.5 4.5-5" />
  </Icon>
);

export const Check = icon(<path d="m5 12.5 4.5 4.5L19 7.5" />);

export const Eye = icon(
  <>
    <path d="M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12z" />
    <circle cx="12" cy="12" r="2.75" />
  </>,
);

export const EyeOff = icon(
  <path d="M4 4l16 16M9.9 5.7A9.6 9.6 0 0 1 12 5.5c6 0 9.5 6.5 9.5 6.5a17 17 0 0 1-2.7 3.4M6.3 7.3A16.4 16.4 0 0 0 2.5 12S6 18.5 12 18.5a9.4 9.4 0 0 0 4.3-1M10 10.1a2.75 2.75 0 0 0 3.9 3.9" />,
);

export const Warning = icon(
  <>
    <path d="M12 3.5 21.5 20h-19z" />
    <path d="M12 10v4.5M12 17.2v.1" />
  </>,
);

export const Info = icon(
  <>
    <circle cx="12" cy="12" r="9" />
    <path d="M12 11v5.5M12 7.7v.1" />
  </>,
);

export const Key = icon(
  <>
    <circle cx="8" cy="15.5" r="4.5" />
    <path d="m11.2 12.3 8.3-8.3M16 7.5l3 3M13.2 10.3l2 2" />
  </>,
);

export const Mail = icon(
  <>
    <rect x="3" y="5" width="18" height="14" rx="2" />
    <path d="m3.5 7 8.5 6 8.5-6" />
  </>,
);
