import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Place, placeOf } from './runbooks';

const file = resolve(__dirname, '../../docs/operations/second-region.md');

/** Where a block runs. The roles are those before the step. */
export type Role = 'primary' | 'replica' | 'both';

export interface RegionBlock {
  readonly place: Place;
  readonly role: Role;
  readonly commands: string;
}

/** docs/operations/second-region.md: the settings of the servers, and the blocks below each heading in their order. */
export class RegionPage {
  readonly settings: readonly string[];
  private readonly sections: ReadonlyMap<string, readonly RegionBlock[]>;

  constructor() {
    const text = readFileSync(file, 'utf8');
    const sections = text.split(/^## /m).slice(1);
    this.sections = new Map(sections.map((section) => [section.split('\n', 1)[0] as string, blocksOf(section)]));
    const lines = /^```ini\n\[mariadb\]\n(.*?)^```$/ms.exec(text)?.[1]?.trim().split('\n') ?? [];
    this.settings = lines.map((line) => `--${line.replace(' = ', '=')}`);
  }

  blocks(section: string): readonly RegionBlock[] {
    const found = this.sections.get(section);
    if (found === undefined) throw new Error(`second-region.md has no section "${section}"`);
    return found;
  }

  get allBlocks(): RegionBlock[] {
    return [...this.sections.values()].flat();
  }
}

function blocksOf(section: string): RegionBlock[] {
  return [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, body = '']) => {
    const [first = '', ...lines] = body.trimEnd().split('\n');
    const [, where = '', role] = /^(# .*), (?:region of the (primary|replica)|both regions)$/.exec(first) ?? [];
    const place = placeOf(where);
    if (place === undefined) throw new Error(`second-region.md: a block does not say where it runs: ${first}`);
    return { place, role: (role as Role | undefined) ?? 'both', commands: lines.join('\n') };
  });
}
