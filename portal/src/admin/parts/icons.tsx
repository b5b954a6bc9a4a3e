import { icon } from '../../components/icons';

export const Menu = icon(<path d="M4 7h16M4 12h16M4 17h16" />);

export const Chart = icon(<path d="M4 20V4M4 20h16M8.500 16v-5M13 16V7M17.500 16v-3" />);

export const People = icon(
  <>
    <circle cx="9" cy="8.500" r="3.500" />
    <path d="M2.500 19.500a6.500 6.500 0 0 1 13 0M16 5.300a3.500 3.500 0 0 1 0 6.400M18.300 14.500a6.500 6.500 0 0 1 3.200 5" />
  </>,
);

export const Groups = icon(
  <>
    <circle cx="12" cy="8" r="3" />
    <circle cx="5.500" cy="9.500" r="2" />
    <circle cx="18.500" cy="9.500" r="2" />
    <path d="M6.500 19.500a5.500 5.500 0 0 1 11 0M2.500 17.500a3.500 3.500 0 0 1 3-3.500M21.500 17.500a3.500 3.500 0 0 0-3-3.500" />
  </>,
);

export const Key = icon(<path d="M14 4h5v16h-5M4 12h10.500M11 8.500l3.500 3.500-3.500 3.500" />);

export const List = icon(<path d="M9 6h11M9 12h11M9 18h11M4.500 6v.1M4.500 12v.1M4.500 18v.1" />);

export const Shield = icon(
  <path d="M12 3 19.500 5.800v5.500c0 4.500-3.100 7.900-7.500 9.700-4.400-1.800-7.500-5.200-7.500-9.700V5.800z" />,
);

export const Palette = icon(
  <>
    <path d="M12 3.500a8.500 8.500 0 1 0 0 17c1.500 0 2-1 1.500-2.200-.7-1.700.3-3 2-3h2.500c1.600 0 2.500-1.300 2.500-3 0-4.800-3.800-8.800-8.500-8.800z" />
    <path d="M8 12.500v.1M9.500 8.500v.1M14 7.500v.1" />
  </>,
);

export const Send = icon(<path d="M20.500 3.500 10 14M20.500 3.500 14 20.500 10 14 3.500 10z" />);

export const Search = icon(
  <>
    <circle cx="11" cy="11" r="6.500" />
    <path d="m16 16 4.500 4.500" />
  </>,
);

export const Plus = icon(<path d="M12 5v14M5 12h14" />);

export const Download = icon(<path d="M12 4v11M7.500 11 12 15.500 16.500 11M4.500 20h15" />);

export const Refresh = icon(
  <path d="M20 11a8 8 0 0 0-14.500-3.500L3.500 9.500M3.500 4.500v5h5M4 13a8 8 0 0 0 14.500 3.500l2-2M20.500 19.500v-5h-5" />,
);

export const Chevron = icon(<path d="m9 6 6 6-6 6" />);

export const Apps = icon(
  <path d="M4.500 4.500h6v6h-6zM13.500 4.500h6v6h-6zM4.500 13.500h6v6h-6zM13.500 13.500h6v6h-6z" />,
);

export const Cross = icon(<path d="m7 7 10 10M17 7 7 17" />);

export const Printer = icon(<path d="M7 9V4h10v5M7 17H4.500V9.500h15V17H17M7 14.500h10V20H7z" />);

export const Building = icon(<path d="M5 20.500V4.500h9v16M14 10h5v10.500M3 20.500h18M8 8.500h3M8 12h3M8 15.500h3" />);

export const Clock = icon(
  <>
    <circle cx="12" cy="12" r="8" />
    <path d="M12 7.500V12l3 2" />
  </>,
);
