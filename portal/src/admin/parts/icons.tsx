import { icon } from '../../components/icons';

export const Menu = icon(<path d="M4 7h16M4 12h16M4 17h16" />);

export const Chart = icon(<path d="M4 20V4M4 20h16M8.5 16v-5M13 16V7M17.5 16v-3" />);

export const People = icon(
  <>
    <circle cx="9" cy="8.5" r="3.5" />
    <path d="M2.5 19.5a6.5 6.5 0 0 1 13 0M16 5.3a3.5 3.5 0 0 1 0 6.4M18.3 14.5a6.5 6.5 0 0 1 3.2 5" />
  </>,
);

export const Groups = icon(
  <>
    <circle cx="12" cy="8" r="3" />
    <circle cx="5.5" cy="9.5" r="2" />
    <circle cx="18.5" cy="9.5" r="2" />
    <path d="M6.5 19.5a5.5 5.5 0 0 1 11 0M2.5 17.5a3.5 3.5 0 0 1 3-3.5M21.5 17.5a3.5 3.5 0 0 0-3-3.5" />
  </>,
);

export const Key = icon(<path d="M14 4h5v16h-5M4 12h10.5M11 8.5l3.5 3.5-3.5 3.5" />);

export const List = icon(<path d="M9 6h11M9 12h11M9 18h11M4.5 6v.1M4.5 12v.1M4.5 18v.1" />);

export const Shield = icon(<path d="M12 3 19.5 5.8v5.5c0 4.5-3.1 7.9-7.5 9.7-4.4-1.8-7.5-5.2-7.5-9.7V5.8z" />);

export const Palette = icon(
  <>
    <path d="M12 3.5a8.5 8.5 0 1 0 0 17c1.5 0 2-1 1.5-2.2-.7-1.7.3-3 2-3h2.5c1.6 0 2.5-1.3 2.5-3 0-4.8-3.8-8.8-8.5-8.8z" />
    <path d="M8 12.5v.1M9.5 8.5v.1M14 7.5v.1" />
  </>,
);

export const Send = icon(<path d="M20.5 3.5 10 14M20.5 3.5 14 20.5 10 14 3.5 10z" />);

export const Search = icon(
  <>
    <circle cx="11" cy="11" r="6.5" />
    <path d="m16 16 4.5 4.5" />
  </>,
);

export const Plus = icon(<path d="M12 5v14M5 12h14" />);

export const Download = icon(<path d="M12 4v11M7.5 11 12 15.5 16.5 11M4.5 20h15" />);

export const Refresh = icon(
  <path d="M20 11a8 8 0 0 0-14.5-3.5L3.5 9.5M3.5 4.5v5h5M4 13a8 8 0 0 0 14.5 3.5l2-2M20.5 19.5v-5h-5" />,
);

export const Chevron = icon(<path d="m9 6 6 6-6 6" />);

export const Apps = icon(<path d="M4.5 4.5h6v6h-6zM13.5 4.5h6v6h-6zM4.5 13.5h6v6h-6zM13.5 13.5h6v6h-6z" />);

export const Cross = icon(<path d="m7 7 10 10M17 7 7 17" />);

export const Printer = icon(<path d="M7 9V4h10v5M7 17H4.5V9.5h15V17H17M7 14.5h10V20H7z" />);

export const Building = icon(<path d="M5 20.5V4.5h9v16M14 10h5v10.5M3 20.5h18M8 8.5h3M8 12h3M8 15.5h3" />);

export const Clock = icon(
  <>
    <circle cx="12" cy="12" r="8" />
    <path d="M12 7.5V12l3 2" />
  </>,
);
