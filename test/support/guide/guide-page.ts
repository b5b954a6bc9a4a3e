import { STATUS_CODES } from 'node:http';

export interface Message {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty if there is none. */
  readonly body: string;
}

export interface Step {
  /** The line of the request on the page. */
  readonly line: number;
  /** How long the reader waits before the request, as the prose says. */
  readonly waitSeconds: number;
  readonly request: Message & { readonly method: string; readonly path: string };
  readonly answer: Message & { readonly status: number };
}

/** A heading of the page and the requests below it, up to the next heading. */
export interface Flow {
  readonly title: string;
  /** From a line such as "**Settings:** `MFA_REQUIRED=true`". */
  readonly settings: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

interface Block {
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

const secondsOf: Readonly<Record<string, number>> = { second: 1, minute: 60, hour: 3600, day: 86_400 };

/**
 * Reads the requests and answers of a page: pairs of fenced `http` blocks. A line such as `_61 seconds later:_` is a wait.
 * @throws Error with the line of a block that could not be sent or compared
 */
export function readGuide(page: string): Flow[] {
  const flows: Flow[] = [];
  for (const { title, text, line } of sections(page)) {
    const steps = stepsOf(text, line);
    if (flows.some((flow) => flow.title === title)) throw new Error(`line ${line}: a second heading "${title}"`);
    if (steps.length > 0) flows.push({ title, settings: settingsOf(text), steps });
  }
  return flows;
}

/** The settings that the page gives to the service of all flows, in its first `sh` block. */
export function commonSettings(page: string): Record<string, string> {
  const block = blocksOf(page, 1).find(({ language }) => language === 'sh');
  return Object.fromEntries(
    [...(block?.text ?? '').matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, key, value]) => [key, value]),
  );
}

/** The names in the first column of the table of placeholders. */
export function documentedPlaceholders(page: string): string[] {
  return [...page.matchAll(/^\| (`\{[^|]*\}`) +\|/gm)].flatMap(([, cell]) => placeholdersIn(cell!));
}

/** Names in braces. `{access_token_2}` counts as `access_token`, and `{in 30 minutes}` as `in`. */
export function placeholdersIn(text: string): string[] {
  return [...text.matchAll(/\{(\w+)(?: [^{}"]*)?\}/g)].map(([, name]) => kindOf(name!));
}

export const kindOf = (name: string): string => name.replace(/_\d+$/, '').replace(/^in \d+ \w+$/, 'in');

function sections(page: string): { title: string; text: string; line: number }[] {
  const found: { title: string; lines: string[]; line: number }[] = [{ title: '', lines: [], line: 1 }];
  let fenced = false;
  page.split('\n').forEach((text, index) => {
    if (text.startsWith('```')) fenced = !fenced;
    const heading = fenced ? null : /^#+ (?:<a id="[\w-]+"><\/a>)?(.*)$/.exec(text);
    if (heading) found.push({ title: heading[1]!, lines: [text], line: index + 1 });
    else found.at(-1)!.lines.push(text);
  });
  return found.map(({ title, lines, line }) => ({ title, text: lines.join('\n'), line }));
}

function settingsOf(section: string): Record<string, string> {
  const [, line = ''] = /^\*\*Settings?:\*\* (.*)$/m.exec(section) ?? [];
  return Object.fromEntries([...line.matchAll(/`([A-Z_]+)=([^`]*)`/g)].map(([, key, value]) => [key, value]));
}

function stepsOf(section: string, firstLine: number): Step[] {
  const blocks = blocksOf(section, firstLine).filter(({ language }) => language === 'http');
  const lines = section.split('\n');
  return blocks.flatMap((block, index) => {
    const isAnswer = block.text.startsWith('HTTP/');
    if (isAnswer !== (index % 2 === 1) || (!isAnswer && index === blocks.length - 1)) {
      throw new Error(`line ${block.line}: each request is followed by its answer, and nothing else`);
    }
    if (isAnswer) return [];
    const since = index === 0 ? 0 : blocks[index - 1]!.line - firstLine;
    const between = lines.slice(since, block.line - firstLine).join('\n');
    return [
      {
        line: block.line,
        waitSeconds: waitIn(between),
        request: requestOf(block),
        answer: answerOf(blocks[index + 1]!),
      },
    ];
  });
}

function waitIn(prose: string): number {
  const waits = [...prose.matchAll(/^_(\d+) (second|minute|hour|day)s? later:_$/gm)];
  return waits.reduce((sum, [, count, unit]) => sum + Number(count) * secondsOf[unit!]!, 0);
}

export function blocksOf(text: string, firstLine: number): Block[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(({ 1: language, 2: content, index }) => ({
    line: firstLine + text.slice(0, index).split('\n').length - 1,
    language: language!,
    text: content!.trimEnd(),
  }));
}

function requestOf({ line, text }: Block): Step['request'] {
  const { first, ...message } = messageOf(text);
  const [, method, path] = /^([A-Z]+) (\/\S*) HTTP\/1\.1$/.exec(first) ?? [];
  if (!method || !path) throw new Error(`line ${line}: not a request line: ${first}`);
  return { ...message, method, path };
}

function answerOf({ line, text }: Block): Step['answer'] {
  const { first, ...message } = messageOf(text);
  const [, status, reason] = /^HTTP\/1\.1 (\d{3}) (.+)$/.exec(first) ?? [];
  if (status === undefined || STATUS_CODES[status] !== reason)
    throw new Error(`line ${line}: not a status line: ${first}`);
  return { ...message, status: Number(status) };
}

function messageOf(text: string): Message & { first: string } {
  const [head = '', ...rest] = text.split('\n\n');
  const [first = '', ...headers] = head.split('\n');
  return {
    first,
    headers: Object.fromEntries(
      headers.map((header) => {
        const [name = '', ...value] = header.split(':');
        return [name.toLowerCase(), value.join(':').trim()];
      }),
    ),
    body: rest.join('\n\n'),
  };
}
