import { mostNamedGroups } from '../ldap-limits';
import { elementAt, tag } from './ber';
import { DirectoryFailure } from './directory-failure';
import { checkedMessage } from './ldap-message';

/** The limit for all answers on one connection of a login. An entry with three attributes has a few hundred bytes. */
const maxBytes = 256 * 1024;
/** Many small elements take longer to read than one large element. ldapjs needs about 15 ms for 10,000 elements. */
const maxElements = 10_000;
/**
 * The bind as the service account, two searches for a person, and three questions about each group: two groups have a
 * setting of their own.
 */
const maxResults = 3 + 3 * (2 + mostNamedGroups);
/**
 * One entry of a search is a match, two are an ambiguous match. Further entries change nothing, so ldapjs does not get
 * them.
 */
const maxEntries = 2;

/**
 * Checks all bytes that a directory sends on one connection of a login before ldapjs reads it (ADR 0010). The BER
 * reader of ldapjs returns null where bytes are missing: its loops then never end, and a null status ends the process.
 */
export class DirectoryAnswers {
  private readonly budget = { elements: maxElements };
  private received: Buffer[] = [];
  /** Number of bytes in `received`. */
  private size = 0;
  /** Number of bytes of the next message, as far as its header is known. With fewer bytes, chunks are not joined. */
  private needed = 2;
  private total = 0;
  private results = 0;
  private entries = 0;

  /**
   * Yields the messages that this chunk completes, one by one: the parser of ldapjs calls itself for each further
   * message in a chunk, and some thousands of messages overflow the stack.
   * @throws DirectoryFailure
   */
  *messagesOf(chunk: Buffer): Generator<Buffer> {
    this.total += chunk.length;
    if (this.total > maxBytes) throw new DirectoryFailure('answer too large');
    this.received.push(chunk);
    this.size += chunk.length;
    if (this.size < this.needed) return;
    let rest = Buffer.concat(this.received);
    for (let end = endOfMessage(rest); end <= rest.length; end = endOfMessage(rest)) {
      const message = this.checked(rest.subarray(0, end));
      rest = rest.subarray(end);
      if (message !== undefined) yield message;
    }
    this.received = [rest];
    this.size = rest.length;
    this.needed = endOfMessage(rest);
  }

  private checked(bytes: Buffer): Buffer | undefined {
    const { kind, message } = checkedMessage(bytes, this.budget);
    if (kind === 'result') {
      if (++this.results > maxResults) throw new DirectoryFailure('malformed answer');
      this.entries = 0;
    }
    return kind === 'other' || (kind === 'entry' && ++this.entries > maxEntries) ? undefined : message;
  }
}

/** Returns the length of the first message. While its header is incomplete: one more than the available bytes. */
function endOfMessage(bytes: Buffer): number {
  if (bytes.length > 0 && bytes[0] !== tag.sequence) throw new DirectoryFailure('malformed answer');
  const end = elementAt(bytes)?.end ?? bytes.length + 1;
  if (end > maxBytes) throw new DirectoryFailure('answer too large');
  return end;
}
