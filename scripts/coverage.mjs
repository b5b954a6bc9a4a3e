/**
 * Compares the catalogue of attacks with the titles of the tests and with docs/security/coverage.md. Each number of the
 * catalogue must be in the title of a test that runs, or have a row on that page with the title of such a test or a reason.
 */
import typescript from 'typescript';

const catalogue = 'docs/spec/attacks.md';
const page = 'docs/security/coverage.md';

const numberMark = /\bT\d{3}\b/g;
const leastReason = 20;

/**
 * @param files the text of every tracked file by its path from the root
 * @param isTest tells whether jest runs a file
 */
export function checkCoverage(files, isTest) {
  const findings = [];
  const report = (file, line, message) => findings.push({ file, line, message });

  const text = files.get(catalogue) ?? '';
  const numbers = definitionsIn(text, /^- <a id="t\d{3}"><\/a>\*\*(T\d{3})\*\*/gm, report);
  const weakSpots = definitionsIn(text, /^### <a id="w\d{2}"><\/a>(W\d{2})\b/gm, report);
  const tests = [...files].filter(([file]) => isTest(file)).flatMap(([file, source]) => testsIn(file, source));
  const titled = checkTitles({ tests, numbers, report });
  const rows = rowsOf(files.get(page) ?? '', report);
  const rowed = checkRows({ rows, tests, numbers, titled, report });
  const linked = checkWeakSpots({ rows, weakSpots, tests, numbers, report });

  for (const [number, line] of numbers)
    if (!titled.has(number) && !rowed.has(number))
      report(catalogue, line, `${number} is neither in the title of a test nor on ${page}`);
  for (const [spot, line] of weakSpots) if (!linked.has(spot)) report(catalogue, line, `${spot} has no row on ${page}`);

  const count = (kind) => rows.filter((row) => row.kind === kind).flatMap((row) => row.marks).length;
  const figures = {
    numbers: numbers.size,
    titled: [...numbers.keys()].filter((number) => titled.has(number)).length,
    covered: count('covered'),
    argued: count('argued'),
    tests: tests.filter((test) => [...test.text.matchAll(numberMark)].length > 0).length,
  };
  return { findings, figures };
}

/** Returns the line of each number that the catalogue defines. */
function definitionsIn(text, definition, report) {
  const found = new Map();
  for (const { 1: mark, index } of text.matchAll(definition)) {
    const line = lineAt(text, index);
    if (found.has(mark)) report(catalogue, line, `${mark} is defined twice`);
    else found.set(mark, line);
  }
  return found;
}

/** @returns the numbers that are in the title of a test that runs */
function checkTitles({ tests, numbers, report }) {
  const titled = new Set();
  for (const { file, line, text, skipped } of tests) {
    for (const [number] of text.matchAll(numberMark)) {
      if (!numbers.has(number)) report(file, line, `${number}: ${catalogue} has no such number`);
      else if (skipped) report(file, line, `${number} is in the title of a test that is skipped`);
      else titled.add(number);
    }
  }
  return titled;
}

/** @returns the numbers for which the page names a test or gives a reason */
function checkRows({ rows, tests, numbers, titled, report }) {
  const rowed = new Set();
  for (const { kind, line, marks, cells } of rows) {
    if (kind === 'weak spot') continue;
    if (marks.length === 0) report(page, line, 'a row without a number');
    for (const number of marks) {
      if (!numbers.has(number)) report(page, line, `${number}: ${catalogue} has no such number`);
      if (kind === 'different' && !titled.has(number)) report(page, line, `${number} is in the title of no test`);
      if (kind === 'argued' && titled.has(number))
        report(page, line, `${number} is in the title of a test by now: remove the row`);
      if (kind !== 'different' && rowed.has(number)) report(page, line, `${number} has a second row`);
      if (kind !== 'different') rowed.add(number);
    }
    if (kind === 'covered') checkNamedTests({ cell: cells[1] ?? '', line, tests, report });
    else if ((cells[1] ?? '').length < leastReason) report(page, line, 'the row gives no reason');
  }
  return rowed;
}

/** A test is named by its file and its title as it stands in the code: `test/spec/x.e2e-spec.ts` "the title". */
function checkNamedTests({ cell, line, tests, report }) {
  const named = [...cell.matchAll(/`([^`]+)` "([^"]+)"/g)];
  if (named.length === 0) report(page, line, 'the row names no test: write `file` "title"');
  for (const [, file, title] of named) {
    const found = tests.filter((test) => test.file === file && test.title === title);
    if (found.length === 0) report(page, line, `${file} has no test "${title}"`);
    else if (found.every(({ skipped }) => skipped)) report(page, line, `"${title}" is skipped`);
  }
}

/** @returns the weak spots whose row names lines of the catalogue, tests or a reason */
function checkWeakSpots({ rows, weakSpots, tests, numbers, report }) {
  const linked = new Set();
  for (const { kind, line, cells } of rows) {
    if (kind !== 'weak spot') continue;
    const [spot = ''] = /\bW\d{2}\b/.exec(cells[0] ?? '') ?? [];
    if (!weakSpots.has(spot)) report(page, line, `${spot || 'the row'}: ${catalogue} has no such weak spot`);
    const lines = [...(cells[1] ?? '').matchAll(/\[(T\d{3})\]/g)].map(([, number]) => number);
    for (const number of lines)
      if (!numbers.has(number)) report(page, line, `${number}: ${catalogue} has no such number`);
    if (/`[^`]+` "/.test(cells[1] ?? '')) checkNamedTests({ cell: cells[1], line, tests, report });
    else if (lines.length === 0 && (cells[1] ?? '').length < leastReason)
      report(page, line, 'the row names no line and gives no reason');
    linked.add(spot);
  }
  return linked;
}

const kinds = {
  'number | tests': 'covered',
  'number | reason': 'argued',
  'number | difference': 'different',
  'weak spot | lines': 'weak spot',
};

/** Reads the tables of the page. The header of a table says what its rows are. */
function rowsOf(text, report) {
  const rows = [];
  let kind;
  let inTable = false;
  for (const [index, source] of text.split('\n').entries()) {
    const isRow = source.startsWith('|');
    const cells = source
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('\\|', '|'));
    if (isRow && !inTable) {
      kind = kinds[cells.join(' | ')];
      if (!kind) report(page, index + 1, `no such table: ${cells.join(' | ')}`);
    } else if (isRow && kind && !/^[\s|:-]+$/.test(source)) {
      rows.push({ kind, cells, line: index + 1, marks: cells[0]?.match(numberMark) ?? [] });
    }
    inTable = isRow;
  }
  return rows;
}

/**
 * Finds the titles in a test file: of `it`, `test` and `describe`, of their `each` with the texts of its table, and of
 * constants such as `onMariaDb = … ? it : it.skip`.
 */
export function testsIn(file, source) {
  const tree = typescript.createSourceFile(file, source, typescript.ScriptTarget.Latest, true);
  const constants = constantsOf(tree);
  const found = [];
  const visit = (node, skippedAround) => {
    let skipped = skippedAround;
    const call = typescript.isCallExpression(node) ? calledTest(node, constants) : undefined;
    if (call) {
      skipped ||= call.skipped;
      const title = textOf(node.arguments[0]);
      const cases = call.table ? casesOf(call.table, title, constants) : [];
      const line = tree.getLineAndCharacterOfPosition(node.arguments[0].getStart()).line + 1;
      found.push({ file, line, title, text: [title, ...cases].join('\n'), skipped });
    }
    typescript.forEachChild(node, (child) => visit(child, skipped));
  };
  visit(tree, false);
  return found;
}

/** Returns what a call does if it declares a test or a group: whether it is skipped, and the table of an `each`. */
function calledTest(node, constants) {
  if (node.arguments.length < 2 && !/\.todo$/.test(node.expression.getText())) return undefined;
  if (node.arguments.length === 0) return undefined;
  let callee = node.expression;
  let table;
  if (typescript.isCallExpression(callee)) {
    if (!typescript.isPropertyAccessExpression(callee.expression) || callee.expression.name.text !== 'each')
      return undefined;
    table = callee.arguments[0];
    callee = callee.expression.expression;
  }
  const skipped = skippedBy(callee, constants);
  return skipped === undefined ? undefined : { skipped, table };
}

/** @returns undefined for what is not a test function */
function skippedBy(expression, constants) {
  const callee = withoutParentheses(expression);
  if (typescript.isIdentifier(callee)) {
    if (['it', 'test', 'describe'].includes(callee.text)) return false;
    if (['xit', 'xtest', 'xdescribe'].includes(callee.text)) return true;
    const value = constants.get(callee.text);
    return value && typescript.isConditionalExpression(withoutParentheses(value))
      ? skippedBy(value, new Map())
      : undefined;
  }
  if (typescript.isPropertyAccessExpression(callee)) {
    const inner = skippedBy(callee.expression, constants);
    return inner === undefined ? undefined : inner || ['skip', 'todo', 'failing'].includes(callee.name.text);
  }
  if (typescript.isConditionalExpression(callee)) {
    const ways = [callee.whenTrue, callee.whenFalse].map((way) => skippedBy(way, constants));
    if (ways.includes(undefined)) return undefined;
    // A test that needs a variable of the environment does not run by itself.
    return /\bprocess\.env\b/.test(callee.condition.getText()) ? ways.includes(true) : ways.every(Boolean);
  }
  return undefined;
}

function withoutParentheses(node) {
  let inner = node;
  while (
    typescript.isParenthesizedExpression(inner) ||
    typescript.isAsExpression(inner) ||
    typescript.isSatisfiesExpression(inner)
  )
    inner = inner.expression;
  return inner;
}

/** The title as it stands in the code. The values of a template literal are written as in the code: `${name}`. */
function textOf(node) {
  const inner = withoutParentheses(node);
  if (typescript.isStringLiteralLike(inner)) return inner.text;
  if (typescript.isTemplateExpression(inner)) return inner.getText().slice(1, -1);
  if (typescript.isBinaryExpression(inner)) return textOf(inner.left) + textOf(inner.right);
  return inner.getText();
}

/**
 * The texts of a table that the title shows. A row that is an array gives as many values as the title has placeholders;
 * `$name` takes that property of an object. Other rows, such as those of a spread, give all their texts.
 */
function casesOf(table, title, constants) {
  const shown = (title.match(/%[a-zA-Z#]/g) ?? []).length;
  const names = new Set([...title.matchAll(/\$(\w+)/g)].map(([, name]) => name));
  const rows = resolved(table, constants);
  if (!typescript.isArrayLiteralExpression(rows)) return literalsIn(rows, constants);
  return rows.elements.flatMap((element) => {
    const row = withoutParentheses(element);
    const values = typescript.isArrayLiteralExpression(row)
      ? row.elements.slice(0, shown)
      : typescript.isObjectLiteralExpression(row)
        ? row.properties.filter((property) => names.has(property.name?.getText() ?? ''))
        : [row];
    return values.flatMap((value) => literalsIn(value, constants));
  });
}

function resolved(node, constants) {
  const inner = withoutParentheses(node);
  const value = typescript.isIdentifier(inner) ? constants.get(inner.text) : undefined;
  return value ? withoutParentheses(value) : inner;
}

function literalsIn(part, constants) {
  const texts = [];
  const seen = new Set();
  const visit = (node) => {
    if (typescript.isStringLiteralLike(node)) texts.push(node.text);
    else if (typescript.isTemplateExpression(node)) texts.push(node.getText());
    else if (typescript.isIdentifier(node) && constants.has(node.text) && !seen.has(node.text)) {
      seen.add(node.text);
      visit(constants.get(node.text));
    } else typescript.forEachChild(node, visit);
  };
  visit(part);
  return texts;
}

function constantsOf(tree) {
  const constants = new Map();
  const visit = (node) => {
    if (typescript.isVariableDeclaration(node) && typescript.isIdentifier(node.name) && node.initializer)
      constants.set(node.name.text, node.initializer);
    typescript.forEachChild(node, visit);
  };
  visit(tree);
  return constants;
}

const lineAt = (text, index) => text.slice(0, index).split('\n').length;

/** Returns a function that tells whether a project of the jest configuration runs a file. */
export function testFilesOf({ projects }) {
  const patterns = projects
    .flatMap(({ testMatch = [] }) => testMatch)
    .map((glob) => glob.replace('<rootDir>/', '').replace(/[.]/g, '\\.'))
    .map((glob) => glob.replace(/\*\*\/|\*/g, (stars) => (stars === '*' ? '[^/]*' : '(.*/)?')))
    .map((glob) => new RegExp(`^${glob}$`));
  return (file) => patterns.some((pattern) => pattern.test(file));
}
