import { pathOf } from '../return-to';
import { paths } from '../paths';

export type SectionName = 'profile' | 'security' | 'devices' | 'activity';

interface Section {
  readonly name: SectionName;
  readonly path: string;
  /** The cards of the section. `/account#sessions` was the address of a card before there were sections. */
  readonly cards: readonly string[];
}

export const sections: readonly [Section, ...Section[]] = [
  { name: 'profile', path: paths.account, cards: ['applications', 'profile'] },
  {
    name: 'security',
    path: paths.security,
    cards: ['check', 'password', 'authenticator', 'passkeys', 'recovery-codes', 'grants'],
  },
  { name: 'devices', path: paths.devices, cards: ['sessions', 'devices'] },
  { name: 'activity', path: paths.activity, cards: ['logins'] },
];

/** The address may have another case and a slash at the end. */
export const sectionAt = (location: string): Section =>
  sections.find(({ path }) => path === pathOf(location)) ?? sections[0];

export const sectionOfCard = (card: string): Section | undefined =>
  sections.find(({ cards }) => card !== '' && cards.includes(card));
