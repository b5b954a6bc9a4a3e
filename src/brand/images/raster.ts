import { crc32 } from 'node:zlib';
import { assertSides, ImageProblem } from './image-problem';

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * The chunks from IHDR to IEND, each with its checksum, and nothing behind them: a file of another kind that is appended
 * would make the image a polyglot. The pixels are not decoded.
 * @throws ImageProblem
 */
export function assertPng(file: Buffer): void {
  const broken = new ImageProblem('is no PNG image, or it is damaged');
  if (!file.subarray(0, 8).equals(pngSignature)) throw broken;
  let at = 8;
  for (let type = ''; type !== 'IEND';) {
    if (at + 12 > file.length) throw broken;
    const length = file.readUInt32BE(at);
    const end = at + 12 + length;
    if (end > file.length || crc32(file.subarray(at + 4, end - 4)) !== file.readUInt32BE(end - 4)) throw broken;
    type = file.toString('latin1', at + 4, at + 8);
    if ((at === 8) !== (type === 'IHDR') || (type === 'IHDR' && length !== 13)) throw broken;
    if (type === 'IHDR') assertSides(file.readUInt32BE(at + 8), file.readUInt32BE(at + 12));
    // A picture that moves distracts from what the page asks.
    if (type === 'acTL') throw new ImageProblem('must not be animated');
    at = end;
  }
  if (at !== file.length) throw broken;
}

/** The container holds chunks that fill it, and nothing is behind it. @throws ImageProblem */
export function assertWebp(file: Buffer): void {
  const broken = new ImageProblem('is no WebP image, or it is damaged');
  const fourCc = (at: number) => file.toString('latin1', at, at + 4);
  if (file.length < 30 || fourCc(0) !== 'RIFF' || fourCc(8) !== 'WEBP') throw broken;
  if (file.readUInt32LE(4) + 8 !== file.length) throw broken;
  const types: string[] = [];
  let at = 12;
  while (at < file.length) {
    if (at + 8 > file.length) throw broken;
    const length = file.readUInt32LE(at + 4);
    types.push(fourCc(at));
    at += 8 + length + (length % 2);
  }
  if (at !== file.length) throw broken;
  if (types.includes('ANIM') || types.includes('ANMF')) throw new ImageProblem('must not be animated');
  const [first = ''] = types;
  if (first === 'VP8X') assertSides(file.readUIntLE(24, 3) + 1, file.readUIntLE(27, 3) + 1);
  else if (first === 'VP8 ') assertSides(file.readUInt16LE(26) & 0x3fff, file.readUInt16LE(28) & 0x3fff);
  else if (first === 'VP8L') {
    const bits = file.readUInt32LE(21);
    assertSides((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1);
  } else throw broken;
  if (first === 'VP8X' && !types.includes('VP8 ') && !types.includes('VP8L')) throw broken;
}
