import type { ReactNode } from 'react';
import { Icon } from '../components/icons';

export const Person = (): ReactNode => (
  <Icon>
    <circle cx="12" cy="8" r="4" />
    <path d="M4.500 20.500a7.500 7.500 0 0 1 15 0" />
  </Icon>
);

export const Shield = (): ReactNode => (
  <Icon>
    <path d="M12 3 19.500 5.800v5.500c0 4.500-3.100 7.900-7.500 9.700-4.400-1.800-7.500-5.200-7.500-9.700V5.800z" />
  </Icon>
);

export const Clock = (): ReactNode => (
  <Icon>
    <circle cx="12" cy="12" r="9" />
    <path d="M12 7v5.500l3.500 2" />
  </Icon>
);
