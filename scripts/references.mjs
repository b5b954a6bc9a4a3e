/**
 * Finds wrong references in code, tests and documentation. A reader must be able to follow each reference inside the
 * repository. docs/spec/README.md says how to write one.
 */
import { posix } from 'node:path';

const contract = 'docs/spec/service.md';
const catalogue = 'docs/spec/attacks.md';
const map = 'docs/spec-map.md';
const coverage = 'docs/security/coverage.md';

// Generated files and binary files. The test file at the end contains wrong references on purpose.
const skipped = [
  /(^|\/)package-lock\.json$/,
  /^openapi\.json$/,
  /^bench\/results\//,
  /\.(svg|snap|png|ico|woff2?)$/,
  /\.min\.(js|css)$/,
  /^test\/unit\/check-references\.spec\.ts$/,
];

// A section sign after one of these names belongs to that standard, also in a list: RFC 9700 §2.2.2, §4.14.2.
const standard = String.raw`(?:RFC \d+|ASVS|NIST SP|W3C|ISO|ECMA|FIPS|UAX|Unicode|Trace Context|WebAuthn|OpenID|OpenAPI)`;
const afterStandard = new RegExp(
  String.raw`\b${standard}(?:(?![.;] )[^§()]){0,40}(?:§+ ?[\w.–-]+(?:, ?| and | or | ))*$`,
);
const beforeStandard = new RegExp(String.raw`^(?:§+ ?|[Ss]ections? )[\w.–-]+ of (?:the )?${standard}`);

/**
 * @param files the text of every tracked file by its path from the root
 * @returns the wrong references, in the order of files and lines
 */
export function checkReferences(files) {
  const repository = { files, anchors: new Map(), has: (path) => exists(files, path) };
  const findings = [];
  for (const [file, text] of files) {
    if (skipped.some((pattern) => pattern.test(file)) || text.includes('\0')) continue;
    findings.push(...checkFile({ file, text: withoutData(text), repository }));
  }
  return findings;
}

/** Base64 and hexadecimal data can contain a mark by chance. */
const withoutData = (text) => text.replace(/[A-Za-z0-9+/=]{60,}/g, blank);

const blank = (found) => found.replace(/[^\n]/g, ' ');

function checkFile({ file, text, repository }) {
  const found = [];
  const report = (index, rule, message) => found.push({ index, rule, message });
  const prose = file.endsWith('.md') ? checkLinks(file, text, repository, report) : text;
  const source = { file, text: prose, repository, report };
  checkPaths(source);
  checkDecisionRecords(source);
  checkMarks(source);
  checkPages(source);
  checkSections(source);
  checkOutside(source);
  return found
    .sort((a, b) => a.index - b.index)
    .map(({ index, rule, message }) => ({ file, line: text.slice(0, index).split('\n').length, rule, message }));
}

/** @returns the text without its links. The label of a link may be a bare mark, because the link has a target. */
function checkLinks(file, text, repository, report) {
  const links = /\[[^\][]*\]\(\s*<?([^()\s>]+)>?(?:\s+"[^"]*")?\s*\)/g;
  let prose = text;
  for (const { 0: link, 1: target, index } of withoutCode(text).matchAll(links)) {
    prose = prose.slice(0, index) + blank(link) + prose.slice(index + link.length);
    if (/^([a-z][a-z+.-]*:|\/)/i.test(target)) continue;
    const [path, anchor] = target.split('#');
    const page = path === '' ? file : posix.join(posix.dirname(file), decodeURIComponent(path));
    const problem = problemOf(repository, page, anchor);
    if (problem) report(index, 'link', `${target}: ${problem}`);
  }
  return prose;
}

/** Checks paths from the root, such as docs/spec/service.md, in any file. */
function checkPaths({ text, repository, report }) {
  for (const { 1: path, 2: anchor, index } of text.matchAll(/(?<![\w./-])(docs\/[\w./-]+\.md)(?:#([\w.-]*\w))?/g)) {
    const problem = problemOf(repository, path, anchor);
    if (problem) report(index, 'link', `${path}${anchor ? `#${anchor}` : ''}: ${problem}`);
  }
}

function checkDecisionRecords({ text, repository, report }) {
  const mention = /\bADRs?\s+(?:\*\s+)?(\d+(?:(?:, | and )\d{4})*)/g;
  for (const { 1: numbers, index } of text.matchAll(mention)) {
    for (const [number] of numbers.matchAll(/\d+/g)) {
      const known = [...repository.files.keys()].some((path) => path.startsWith(`docs/adr/${number}-`));
      if (!known) report(index, 'link', `ADR ${number}: docs/adr has no such record`);
    }
  }
}

/** Checks numbers of weak spots and of tests. 2026-W21 is a week, not a weak spot. */
function checkMarks({ file, text, repository, report }) {
  for (const { 0: mark, index } of text.matchAll(/(?<![\w#&+=]|\d{4}-)(?:W\d{2}|T\d{3})(?![\w+=])/g)) {
    const anchor = mark.toLowerCase();
    const test = mark.startsWith('T');
    const rule = test ? 'test number' : 'weak spot';
    const free = [catalogue, coverage].includes(file) || (test && file === map) || inTestTitle(file, text, index);
    if (!free) report(index, rule, `${mark} stands alone: write ${catalogue}#${anchor}`);
    else if (!anchorsOf(repository, catalogue).has(anchor))
      report(index, rule, `${mark}: ${catalogue} has no such number`);
  }
}

/** In a test file, all code outside comments counts as a title, because titles also come from tables of cases. */
function inTestTitle(file, text, index) {
  if (!/^test\/|[.-]spec\.[cm]?[jt]sx?$/.test(file)) return false;
  const before = text.slice(text.lastIndexOf('\n', index) + 1, index);
  const code = before.replace(/(['"`])(?:\\.|(?!\1).)*(?:\1|$)/g, '');
  return !/^\s*\*/.test(before) && !/\/[/*]/.test(code);
}

/** Checks names of specification pages without a path. Inside docs/spec only a name without a number is allowed. */
function checkPages({ file, text, report }) {
  const mention =
    /(?<![\w./-])(authentication-service|security-tests|service|decisions|extensions|attacks)\.md(?:`?,?\s+(?:section )?(\d+|[A-H]\b))?/g;
  for (const { 1: page, 2: number, index } of text.matchAll(mention)) {
    const known = !page.includes('-');
    if (file.startsWith('docs/spec/') && known && number === undefined) continue;
    const path = `docs/spec/${page}.md#${number?.toLowerCase() ?? 'anchor'}`;
    report(index, 'page', `${page}.md stands alone: ${known ? `write ${path}` : 'there is no such page'}`);
  }
}

/** Checks section numbers without a document. The message proposes the contract if it has a section of that number. */
function checkSections({ text, repository, report }) {
  for (const { 0: sign, index } of text.matchAll(/§+\s?\w[\w.–-]*|\b[Ss]ections?\s+\d[\w.–-]*/g)) {
    const before = text.slice(Math.max(0, index - 120), index).replace(/\s*\n\s*(?:\*|\/\/|#|>)?\s*/g, ' ');
    if (afterStandard.test(before) || beforeStandard.test(text.slice(index, index + 80))) continue;
    const [number] = /\d[\d.]*(?<!\.)/.exec(sign) ?? [];
    const likely = anchorsOf(repository, contract).has(number) ? number : 'anchor';
    report(
      index,
      'section',
      `${sign.replace(/[.–-]+$/, '')} names no document: write ${contract}#${likely}, or the RFC`,
    );
  }
}

/** Checks paths to a folder outside the repository. Imports of the module `src/shared` are allowed. */
function checkOutside({ file, text, repository, report }) {
  for (const { 0: path, index } of text.matchAll(/(?:\.\.\/)+shared\b[\w./-]*/g)) {
    const target = posix.join(posix.dirname(file), path.replace(/[./]+$/, ''));
    if (['', '.ts', '.mts', '.mjs', '.js'].some((suffix) => repository.has(target + suffix))) continue;
    report(index, 'outside', `${path} is not in the repository`);
  }
}

function problemOf(repository, path, anchor) {
  if (!repository.has(path)) return 'there is no such file';
  if (anchor && path.endsWith('.md') && !anchorsOf(repository, path).has(decodeURIComponent(anchor)))
    return `the page has no anchor ${anchor}`;
  return undefined;
}

function exists(files, path) {
  const folder = `${path.replace(/\/$/, '')}/`;
  return files.has(path) || [...files.keys()].some((known) => known.startsWith(folder));
}

/** Explicit anchors, and those that GitHub derives from headings. */
function anchorsOf({ files, anchors }, path) {
  if (!anchors.has(path)) {
    const text = files.get(path) ?? '';
    const found = new Set([...text.matchAll(/<a (?:id|name)="([^"]+)"/g)].map((match) => match[1]));
    const seen = new Map();
    for (const [, heading] of text.replace(/^```[^]*?^```/gm, '').matchAll(/^#{1,6} +(.+)$/gm)) {
      const slug = slugOf(heading);
      const before = seen.get(slug) ?? 0;
      seen.set(slug, before + 1);
      found.add(before === 0 ? slug : `${slug}-${before}`);
    }
    anchors.set(path, found);
  }
  return anchors.get(path);
}

const slugOf = (heading) =>
  heading
    .replace(/<[^>]+>/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

const withoutCode = (text) => text.replace(/^ *```[^]*?^ *```/gm, blank).replace(/`[^`\n]*`/g, blank);
