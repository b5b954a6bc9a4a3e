import { type KeyObject, verify } from 'node:crypto';
import { formatName, hashOf, keyIdOf, type Manifest, noLine } from './chain';
import { membersOf } from './lines';

export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

export interface CheckedFile {
  readonly file: string;
  readonly log: string | null;
  readonly rows: number;
  readonly first: Manifest['first'];
  readonly last: Manifest['last'];
  /** Ids of the range that no row has: transactions that were rolled back, a cluster that skips ids, or deleted rows. */
  readonly ids_without_row: number | null;
  readonly signed_with: string | null;
}

type Members = Readonly<Record<string, unknown>>;

/** The file before. */
interface FormerFile {
  readonly file: string;
  /** The hash of its last line. */
  readonly head: string;
  readonly log: unknown;
  /** The id behind which the next export begins. */
  readonly through: unknown;
}

/** More places than this tell the auditor nothing new. */
const mostFindings = 100;

/**
 * Checks exports in their order, each of them line by line. After a place that was changed it goes on, so that each place is
 * named.
 */
export class Verification {
  readonly files: CheckedFile[] = [];
  readonly problems: Finding[] = [];
  /** What the service itself has told and signed, for the auditor to judge. */
  readonly notes: Finding[] = [];
  private former: FormerFile | undefined;

  /** @param unsigned accept exports without a signature */
  constructor(
    private readonly keys: readonly KeyObject[],
    private readonly unsigned: boolean,
  ) {}

  async check(file: string, lines: AsyncIterable<Buffer>): Promise<void> {
    const one = new FileCheck(
      (line, text) => this.problems.length < mostFindings && this.problems.push({ file, line, text }),
      (line, text) => this.notes.push({ file, line, text }),
    );
    for await (const line of lines) one.next(line, this.former);
    this.files.push({ file, ...one.end(this.keys, this.unsigned) });
    this.former = { file, head: one.head, log: one.header?.log, through: one.through };
  }
}

class FileCheck {
  head = noLine;
  header: Members | undefined;
  private number = 0;
  private expected = 1;
  private rows = 0;
  /** Rows whose time is later than the export. */
  private readonly early = { count: 0, id: 0 };
  private first: Manifest['first'] = null;
  private last: Manifest['last'] = null;
  private manifest: { readonly line: Buffer; readonly number: number; readonly members: Members } | undefined;
  private signature: { readonly number: number; readonly members: Members } | undefined;

  constructor(
    private readonly problem: (line: number, text: string) => void,
    private readonly note: (line: number, text: string) => void,
  ) {}

  get through(): unknown {
    return this.manifest?.members.through_id;
  }

  next(line: Buffer, former: FormerFile | undefined): void {
    this.number += 1;
    const members = membersOf(line);
    if (members === undefined) {
      this.problem(this.number, 'is no JSON object: changed, or cut off');
      this.expected += 1;
    } else {
      this.checkPlace(members);
      if (this.number === 1) this.readHeader(members, former);
      else this.readMember(members, line);
      this.expected = typeof members.n === 'number' ? members.n + 1 : this.expected + 1;
    }
    this.head = hashOf(line);
  }

  end(keys: readonly KeyObject[], unsigned: boolean): Omit<CheckedFile, 'file'> {
    const { header, manifest, rows, first, last } = this;
    if (manifest === undefined) this.problem(this.number, 'the export ends here without a manifest: cut off');
    else {
      const { count, head, ...told } = manifest.members as unknown as Manifest;
      if (count !== rows)
        this.problem(manifest.number, `the manifest counts ${shown(count)} rows, the file has ${rows}`);
      if (told.log !== header?.log) this.problem(manifest.number, 'the manifest is that of another log');
      if (head !== manifest.members.prev) this.problem(manifest.number, 'the manifest names another chain head');
      if (
        told.first?.id !== first?.id ||
        told.last?.id !== last?.id ||
        told.through_id !== (last?.id ?? header?.after_id)
      )
        this.problem(manifest.number, 'the manifest names another first or last row');
      this.checkSignature(keys, unsigned, manifest);
    }
    if (this.early.count > 0) {
      const { count, id } = this.early;
      this.note(
        this.number,
        `rows with a time after the export was made: ${count}, the first is id ${id}; a clock was wrong`,
      );
    }
    const after = header?.after_id;
    const skipped = typeof after === 'number' && last !== null ? last.id - after - rows : null;
    const log = typeof header?.log === 'string' ? header.log : null;
    const signed_with = this.signature === undefined ? null : shown(this.signature.members.key_id);
    return { log, rows, first, last, ids_without_row: skipped, signed_with };
  }

  /** A line tells its own number and the hash of the line before it. */
  private checkPlace({ n, prev }: Members): void {
    if (typeof n !== 'number' || n !== this.expected) {
      const missing = typeof n === 'number' ? n - this.expected : 0;
      this.problem(
        this.number,
        missing > 0
          ? `${missing} of the lines before it are missing: removed, or moved`
          : `says that it is line ${shown(n)}: inserted, repeated, or moved`,
      );
    } else if (this.number > 1 && prev !== this.head) {
      this.problem(this.number - 1, `was changed, or line ${this.number} and what follows are those of another export`);
    }
  }

  private readHeader(members: Members, former: FormerFile | undefined): void {
    if (members.type !== 'header' || members.format !== formatName) {
      return this.problem(1, `is not the header of an export (${formatName})`);
    }
    this.header = members;
    const { count, rows_now: now } = numbersOf(members.former);
    const { id: oldest } = numbersOf(members.oldest);
    const { after_id: after } = numbersOf(members);
    if (former !== undefined && (members.prev !== former.head || members.log !== former.log)) {
      this.problem(1, `does not continue ${former.file}: an export is missing between them, or one was changed`);
    } else if (former !== undefined && after !== former.through) {
      // The head alone does not show it: whoever made this export had another manifest, with the signature of the right one.
      this.problem(1, `begins behind id ${shown(after)}, and ${former.file} ends with id ${shown(former.through)}`);
    }
    if (former === undefined && members.prev !== noLine) {
      this.note(1, 'continues an export that was not given: what came before is not checked');
    }
    if (former !== undefined && members.prev === noLine) this.note(1, 'begins a new chain');
    const { from } = (members.filters ?? {}) as Members;
    if (members.prev === noLine && typeof from === 'string') {
      this.note(1, `the chain begins at ${shown(from)} (--from): it says nothing of the rows before that`);
    }
    if (oldest !== undefined && after !== undefined && oldest > after + 1) {
      this.note(1, `rows before id ${oldest} were not in the table any more when the export was made`);
    }
    if (count !== undefined && now !== undefined && now !== count) {
      this.note(1, `of the ${count} rows of the export before, the table had ${now} when this one was made`);
    }
  }

  private readMember(members: Members, line: Buffer): void {
    const { type, id, created_at } = members;
    if (this.manifest !== undefined && type !== 'signature') this.problem(this.number, 'stands behind the manifest');
    if (type === 'row' && typeof id === 'number') {
      const place = { id, created_at: shown(created_at) };
      if (this.last !== null && id <= this.last.id)
        this.problem(this.number, `id ${id} does not grow: repeated or moved`);
      if (Date.parse(place.created_at) > Date.parse(shown(this.header?.made_at))) {
        this.early.id ||= id;
        this.early.count += 1;
      }
      this.rows += 1;
      this.first ??= place;
      this.last = place;
    } else if (type === 'manifest') this.manifest = { line: Buffer.from(line), number: this.number, members };
    else if (type === 'signature') this.signature = { number: this.number, members };
    else this.problem(this.number, 'is not a row, a manifest or a signature');
  }

  private checkSignature(
    keys: readonly KeyObject[],
    unsigned: boolean,
    { line, number, members }: NonNullable<FileCheck['manifest']>,
  ): void {
    const { signature } = this;
    if (signature === undefined) {
      if (members.key_id !== null) this.problem(number, 'the signature behind the manifest is missing: cut off');
      else if (!unsigned)
        this.problem(number, 'is not signed: whoever changed the file can make a new chain (--unsigned accepts it)');
      return;
    }
    if (keys.length === 0) return;
    const { key_id, signature: text } = signature.members;
    const proof = Buffer.from(typeof text === 'string' ? text : '', 'base64');
    const key = keys.find((one) => keyIdOf(one) === key_id);
    if (key === undefined) {
      this.problem(signature.number, `is made with the key ${shown(key_id)}, which is none of those given`);
    } else if (!verify(null, line, key, proof)) {
      this.problem(signature.number, `does not fit the manifest in line ${number}: one of them was changed`);
    }
  }
}

/** A value of the file in one line: it may be any JSON, and steer the terminal that shows it. */
function shown(value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : typeof value;
  return text.replace(/[^ -~]/g, '?').slice(0, 80);
}

function numbersOf(value: unknown): Readonly<Record<string, number | undefined>> {
  const members: [string, unknown][] = Object.entries(value ?? {});
  return Object.fromEntries(members.filter((one): one is [string, number] => typeof one[1] === 'number'));
}
