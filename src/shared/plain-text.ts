/**
 * The characters that no name contains: control characters with NUL and line breaks, the controls that change the
 * direction of the text around them (Unicode property Bidi_Control), and halves of characters. With them a name shows as
 * another one in a list, a log or a mail. Joiners and the letters of right-to-left scripts are not among them.
 */
export const notInNames = '\\p{Cc}\\p{Zl}\\p{Zp}\\p{Bidi_Control}\\p{Cs}\\p{Noncharacter_Code_Point}';

const refused = new RegExp(`[${notInNames}]`, 'u');
const everyRefused = new RegExp(refused, 'gu');

/** For messages: "the name must have …". */
export const plainTextRule = 'no line breaks, control characters or bidirectional controls';

export const isPlainText = (text: string): boolean => !refused.test(text);

/** For text of another system whose owner must not be refused because of it. */
export const plainTextOf = (text: string): string => text.replace(everyRefused, '').trim();
