import { elementAt, tag } from './ber';
import { DirectoryFailure } from './directory-failure';
import { checkedMessage } from './ldap-message';

/** For all that a directory says on one connection of a login. An entry with three attributes has a few hundred bytes. */
const maxBytes = 256 * 1024;
/** Many small elements take longer to read than one large one: ldapjs needs about 15 ms for this many. */
const maxElements = 10_000;
/** A connection of a login carries at most two questions: the bind as the service account and the search. */
const maxResults = 2;
/** One entry is a match, two are too many. ldapjs need not read a third one. */
const maxEntries = 2;

/**
 * Everything that a directory sends on one connection of a login, checked before ldapjs reads it (ADR 0010). The BER
 * reader of ldapjs returns null where bytes are missing. Its loops then never end, and a null status ends the process.
 */
export class DirectoryAnswers {
  private readonly budget = { elements: maxElements };
  private received: Buffer[] = [];
  /** Bytes in `received`. */
  private size = 0;
  /** Bytes that `received` needs before another look at it is worth the copy. */
  private needed = 2;
  private total = 0;
  private results = 0;
  private entries = 0;

  /**
   * The messages that this chunk completes, one by one: ldapjs calls itself once more for each further message in a
   * chunk, so that some thousands of them overflow the stack.
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
      const message = this.wanted(rest.subarray(0, end));
      rest = rest.subarray(end);
      if (message !== undefined) yield message;
    }
    this.received = [rest];
    this.size = rest.length;
    this.needed = endOfMessage(rest);
  }

  private wanted(bytes: Buffer): Buffer | undefined {
    const { kind, message } = checkedMessage(bytes, this.budget);
    if (kind === 'result' && ++this.results > maxResults) throw new DirectoryFailure('malformed answer');
    return kind === 'other' || (kind === 'entry' && ++this.entries > maxEntries) ? undefined : message;
  }
}

/** Length of the message at the start; while its header is incomplete, one byte more than there are. */
function endOfMessage(bytes: Buffer): number {
  if (bytes.length > 0 && bytes[0] !== tag.sequence) throw new DirectoryFailure('malformed answer');
  const end = elementAt(bytes)?.end ?? bytes.length + 1;
  if (end > maxBytes) throw new DirectoryFailure('answer too large');
  return end;
}
