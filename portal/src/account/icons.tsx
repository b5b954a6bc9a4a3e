import { icon } from '../components/icons';

export const Person = icon(
  <>
    <circle cx="12" cy="8" r="4" />
    <path d="M4.500 20.500a7.500 7.500 0 0 1 15 0" />
  </>,
);

export const Shield = icon(
  <path d="M12 3 19.500 5.800v5.500c0 4.500-3.100 7.900-7.500 9.700-4.400-1.800-7.500-5.200-7.500-9.700V5.800z" />,
);

export const Clock = icon(
  <>
    <circle cx="12" cy="12" r="9" />
    <path d="M12 7v5.500l3.500 2" />
  </>,
);

export const Monitor = icon(
  <>
    <rect x="2.500" y="4" width="19" height="13" rx="2" />
    <path d="M8.500 20.500h7M12 17v3.500" />
  </>,
);

export const Phone = icon(
  <>
    <rect x="6.500" y="2.500" width="11" height="19" rx="2" />
    <path d="M11 18.500h2" />
  </>,
);
