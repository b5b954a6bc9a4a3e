import { type Document, DOMParser, type Element, type Node, onWarningStopParsing } from '@xmldom/xmldom';
import { ImageProblem } from './image-problem';
import { allowedAttributes, allowedElements, allowedFunctions } from './svg-allowed';
import { assertDrawable, mostElements, tooManyElements } from './svg-size';

const svgNamespace = 'http://www.w3.org/2000/svg';
const xlinkNamespace = 'http://www.w3.org/1999/xlink';
const xmlNamespace = 'http://www.w3.org/XML/1998/namespace';
const xmlnsNamespace = 'http://www.w3.org/2000/xmlns/';
const mostNamespaces = 200;

/**
 * Takes an SVG of which every element and every attribute is on a list, and which refers to nothing but its own elements. It is
 * refused, not repaired: what the browser gets are the bytes that were judged.
 * @throws ImageProblem
 */
export function assertSvg(file: Buffer): void {
  const elements = elementsOf(parsed(file));
  for (const element of elements) {
    assertElement(element);
    for (const attribute of Array.from(element.attributes)) assertAttribute(element, attribute);
    if (element.localName === 'style') assertStyleSheet(element);
  }
  assertDrawable(elements);
}

function parsed(file: Buffer): Document {
  const text = utf8(file);
  // A declaration of another encoding would show a browser another text than the one that is judged here.
  const encoding = /^<\?xml[^>]*\sencoding\s*=\s*["']([^"']*)/.exec(text)?.[1];
  if (encoding !== undefined && !/^utf-8$/i.test(encoding)) throw new ImageProblem('must be in UTF-8');
  // The parser would take a second for what is refused afterwards: an element has two `<`, and the rest is for comments.
  if (text.split('<').length > 2 * mostElements + 1_000) throw tooManyElements();
  // It looks each of them up again for each element inside of others. An editor declares about ten.
  if (text.split('xmlns').length > mostNamespaces + 1) {
    throw new ImageProblem(`must have at most ${mostNamespaces} declarations of name spaces`);
  }
  if (text.includes('<!DOCTYPE')) throw noDoctype();
  let document: Document;
  try {
    document = new DOMParser({ onError: onWarningStopParsing, locator: false }).parseFromString(text, 'image/svg+xml');
  } catch {
    throw new ImageProblem('is no SVG image, or its XML is not well-formed');
  }
  for (const node of Array.from(document.childNodes)) assertPlainNode(node);
  const root = document.documentElement;
  if (root?.localName !== 'svg' || root.namespaceURI !== svgNamespace) throw new ImageProblem('is no SVG image');
  return document;
}

function utf8(file: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file);
  } catch {
    throw new ImageProblem('must be in UTF-8');
  }
}

/** Without recursion, because a file can be nested as deeply as it is long. */
function elementsOf(document: Document): Element[] {
  const found: Element[] = [];
  const open: Node[] = [document.documentElement!];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.nodeType === node.ELEMENT_NODE) found.push(node as Element);
    else assertPlainNode(node);
    open.push(...Array.from(node.childNodes));
  }
  return found;
}

/** A doctype declares entities, and an instruction can name a style sheet of another server. */
function assertPlainNode(node: Node): void {
  if (node.nodeType === node.DOCUMENT_TYPE_NODE) throw noDoctype();
  if (node.nodeType === node.PROCESSING_INSTRUCTION_NODE && node.nodeName !== 'xml') {
    throw new ImageProblem(`must have no instruction <?${node.nodeName}?>`);
  }
}

const noDoctype = () => new ImageProblem('must have no <!DOCTYPE> and no entities');

function assertElement({ localName, namespaceURI, tagName }: Element): void {
  if (namespaceURI !== svgNamespace) {
    throw new ImageProblem(`must have no <${tagName}>: export it as a plain SVG, without the data of an editor`);
  }
  if (!allowedElements.has(localName ?? '')) throw new ImageProblem(`must have no <${tagName}>`);
}

interface Named {
  readonly name: string;
  readonly value: string;
  readonly localName: string | null;
  readonly namespaceURI: string | null;
}

function assertAttribute(element: Element, { name, value, localName, namespaceURI }: Named): void {
  if (namespaceURI === xmlnsNamespace) return;
  const plain = namespaceURI === null && allowedAttributes.has(name);
  const known =
    plain ||
    (namespaceURI === xlinkNamespace && localName === 'href') ||
    (namespaceURI === xmlNamespace && (localName === 'space' || localName === 'lang'));
  if (!known) throw new ImageProblem(`must have no attribute ${name} (in <${element.tagName}>)`);
  if (localName === 'href' && !/^#[^\s%]+$/.test(value)) throw new ImageProblem(`must refer to nothing else (${name})`);
  if (localName !== 'href') assertCss(value, name);
}

/** A browser reads only the text of the element itself, so an element inside could part a word that is judged as one here. */
function assertStyleSheet(element: Element): void {
  if (element.children.length > 0) throw new ImageProblem('must have no element in <style>');
  assertCss(element.textContent ?? '', 'style');
}

/** Each function, also one inside another, with the reference that it may have. A name starts where no name goes on: linear time. */
const functions = /(?<![\w-])([\w-]+)\((\s*(["']?)#[^"'\s()%]+\3\s*\))?/g;

/** A presentation attribute is CSS too. An escape could spell a function so that it is not found here. */
function assertCss(text: string, where: string): void {
  const refused = new ImageProblem(`must refer to nothing else (${where})`);
  if (/[\\@]|\/\*/.test(text) && where === 'style') throw refused;
  if (/\\/.test(text)) throw refused;
  for (const [, name = '', own] of text.matchAll(functions)) {
    const plain = allowedFunctions.has(name.toLowerCase());
    if (!plain && !(name.toLowerCase() === 'url' && own !== undefined)) throw refused;
  }
}
