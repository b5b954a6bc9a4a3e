import { icon } from '../components/icons';

export const Person = icon(
  <>
    <circle cx="12" cy="8" r="4" />
    <path d="M4.5 20.5a7.5 7.5 0 0 1 15 0" />
  </>,
);

export const Shield = icon(<path d="M12 3 19.5 5.8v5.5c0 4.5-3.1 7.9-7.5 9.7-4.4-1.8-7.5-5.2-7.5-9.7V5.8z" />);

export const Clock = icon(
  <>
    <circle cx="12" cy="12" r="9" />
    <path d="M12 7v5.5l3.5 2" />
  </>,
);

export const Monitor = icon(
  <>
    <rect x="2.5" y="4" width="19" height="13" rx="2" />
    <path d="M8.5 20.5h7M12 17v3.5" />
  </>,
);

export const Phone = icon(
  <>
    <rect x="6.5" y="2.5" width="11" height="19" rx="2" />
    <path d="M11 18.5h2" />
  </>,
);
