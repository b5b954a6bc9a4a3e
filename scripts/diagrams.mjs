/**
 * Finds mistakes in the sequence diagrams and flowcharts of Markdown pages. It accepts a part of Mermaid's grammar: every
 * diagram that passes is valid in Mermaid. In addition, a message may only name a declared participant and an arrow only
 * declared nodes, because Mermaid draws a misspelt name as one more of them.
 */
const name = String.raw`[A-Za-z]\w*`;
// Mermaid ends a statement at ";" and starts a comment at "#" or "%%".
const text = '(?:(?!%%)[^#;])*[^#;\\s]';
const declaration = new RegExp(String.raw`^(?:participant|actor) (${name})(?: as ${text})?$`);
const message = new RegExp(String.raw`^(${name}) ?--?(?:>>|[>x)]) ?(${name}) ?: ?${text}$`);
const note = new RegExp(String.raw`^Note (?:(?:left|right) of (${name})|over (${name})(?:, ?(${name}))?) ?: ?${text}$`);
const opening = new RegExp(`^(alt|opt|loop|par|critical|break)(?: ${text})?$`);
const section = new RegExp(`^(else|and|option)(?: ${text})?$`);
const ignored = /^(?:autonumber|%%(?!\{).*)?$/;

// Outside of quotes, Mermaid reads brackets and bars in a text as the shape of a node or the end of a text.
const label = String.raw`[^\s[\](){}<>|"#;](?:[^[\](){}<>|"#;]*[^\s[\](){}<>|"#;])?`;
const node = new RegExp(String.raw`^(${name})(?:\[${label}\]|\(\[${label}\]\)|\[\(${label}\)\])$`);
const arrow = new RegExp(String.raw`^(${name}) -->(?:\|${label}\|)? (${name})$`);
const group = new RegExp(String.raw`^subgraph ${name}(?: \[${label}\])?$`);
const wordsOfFlowcharts =
  /^(?:flowchart|graph|subgraph|end|direction|style|linkStyle|class|classDef|click|href|call|default|interpolate)$/i;

const blockOf = { else: 'alt', and: 'par', option: 'critical' };
const keywords =
  /^(?:participant|actor|note|alt|else|opt|loop|par|and|critical|option|break|rect|box|end|title|over|create|destroy|links?|properties|details|(?:de)?activate|autonumber|as|off)$/i;

/**
 * @param page the text of a Markdown page
 * @returns the number of its diagrams, and the mistakes in them
 */
export function checkDiagrams(page) {
  const findings = [];
  let diagram;
  let count = 0;
  for (const [index, raw] of page.split('\n').entries()) {
    const line = raw.trim();
    const report = (problem) => findings.push({ line: index + 1, message: `${problem}: ${line}` });
    if (/^(```+|~~~+) *mermaid\b/.test(line)) {
      count += 1;
      diagram = { fence: line.match(/^[`~]+/)[0], participants: new Set(), blocks: [], arrows: [] };
    } else if (diagram === undefined) continue;
    else if (line === diagram.fence) {
      if (diagram.check === undefined) report('the diagram is empty');
      for (const block of diagram.blocks) report(`"${block}" has no "end"`);
      reportUndeclared(diagram, (at, message) => findings.push({ line: at, message }));
      diagram = undefined;
    } else checkStatement(diagram, line, report, index + 1);
  }
  if (diagram !== undefined) findings.push({ line: page.split('\n').length, message: 'the diagram has no last fence' });
  return { count, findings };
}

function checkStatement(diagram, line, report, at) {
  if (diagram.check !== undefined) diagram.check(diagram, line, report, at);
  else if (line === 'sequenceDiagram') diagram.check = checkSequence;
  else if (/^flowchart (?:LR|RL|TB|TD|BT)$/.test(line)) diagram.check = checkFlowchart;
  else {
    report('only "sequenceDiagram" and "flowchart" can be checked');
    diagram.check = () => undefined;
  }
}

/** An arrow may stand before the node to which it leads, so the names are compared at the end. */
function checkFlowchart({ participants, blocks, arrows }, line, report, at) {
  const declared = node.exec(line)?.[1];
  if (declared !== undefined) {
    if (wordsOfFlowcharts.test(declared)) report('this name is a word of Mermaid');
    participants.add(declared);
  } else if (group.test(line)) blocks.push('subgraph');
  else if (line === 'end') {
    if (blocks.pop() === undefined) report('"end" without a block');
  } else if (!ignored.test(line) || line === 'autonumber') {
    const named = arrow.exec(line)?.slice(1);
    if (named === undefined) report('not a statement of a flowchart, or a text contains a bracket, a bar, ";" or "#"');
    else arrows.push({ at, line, named });
  }
}

function reportUndeclared({ participants, arrows }, report) {
  for (const { at, line, named } of arrows) {
    for (const used of named) if (!participants.has(used)) report(at, `"${used}" is not declared: ${line}`);
  }
}

function checkSequence(diagram, line, report) {
  const { participants, blocks } = diagram;
  const declared = declaration.exec(line)?.[1];
  if (declared !== undefined) {
    if (keywords.test(declared)) report('this name is a word of Mermaid');
    participants.add(declared);
  } else if (opening.test(line)) blocks.push(opening.exec(line)[1]);
  else if (section.test(line)) {
    const [, word] = section.exec(line);
    if (blocks.at(-1) !== blockOf[word]) report(`"${word}" outside "${blockOf[word]}"`);
  } else if (line === 'end') {
    if (blocks.pop() === undefined) report('"end" without a block');
  } else if (!ignored.test(line)) {
    const named = (message.exec(line) ?? note.exec(line))?.slice(1).filter(Boolean);
    if (named === undefined) report('not a statement of a sequence diagram, or it contains ";", "#" or "%%"');
    for (const used of named ?? []) if (!participants.has(used)) report(`"${used}" is not declared`);
  }
}
