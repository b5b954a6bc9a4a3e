import { inflateSync } from 'node:zlib';

const quietZone = 4;

/** Reads the modules of a QR code from a PNG: one string of 0 and 1 per row, without the quiet zone. */
export function modulesOf(png: Buffer): string[] {
  const rows = pixelsOf(png);
  const dark = (x: number, y: number) => (rows[y]?.[x] ?? 255) < 128;
  // The finder pattern begins with seven dark modules.
  let left = 0;
  while (!dark(left, left)) left++;
  let run = 0;
  while (dark(left + run, left)) run++;
  const scale = run / 7;
  const size = rows.length / scale - 2 * quietZone;
  return Array.from({ length: size }, (_, y) =>
    Array.from({ length: size }, (_, x) => {
      const at = (module: number) => Math.floor((quietZone + module + 0.5) * scale);
      return dark(at(x), at(y)) ? '1' : '0';
    }).join(''),
  );
}

/** The first channel of each pixel of an 8-bit image, grey or RGBA (PNG, ISO/IEC 15948 §9.2). */
function pixelsOf(png: Buffer): number[][] {
  const chunks: Record<string, Buffer> = {};
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    chunks[type] = Buffer.concat([chunks[type] ?? Buffer.alloc(0), png.subarray(at + 8, at + 8 + length)]);
    at += length + 12;
  }
  const { IHDR: header = Buffer.alloc(13), IDAT: data = Buffer.alloc(0) } = chunks;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  if (header[8] !== 8 || (header[9] !== 0 && header[9] !== 6)) throw new Error('not an 8-bit grey or RGBA picture');
  const channels = header[9] === 0 ? 1 : 4;
  const raw = inflateSync(data);
  const stride = width * channels;
  let above: number[] = Array<number>(stride).fill(0);
  return Array.from({ length: height }, (_, y) => {
    const line = raw.subarray(y * (stride + 1), (y + 1) * (stride + 1));
    const bytes: number[] = [];
    for (let x = 0; x < stride; x++) {
      const [a, b, c] = [bytes[x - channels] ?? 0, above[x] ?? 0, x < channels ? 0 : (above[x - channels] ?? 0)];
      bytes.push(((line[x + 1] ?? 0) + predicted(line[0] ?? 0, a, b, c)) & 0xff);
    }
    above = bytes;
    return bytes.filter((_, x) => x % channels === 0);
  });
}

function predicted(filter: number, a: number, b: number, c: number): number {
  if (filter === 0) return 0;
  if (filter === 1) return a;
  if (filter === 2) return b;
  if (filter === 3) return Math.floor((a + b) / 2);
  const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}
