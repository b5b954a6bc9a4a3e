import { crc32 } from 'node:zlib';
import { assertPng, assertWebp } from './raster';

const chunk = (type: string, content: Buffer): Buffer => {
  const head = Buffer.alloc(8);
  head.write(type, 0, 'latin1');
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
};
const webp = (...chunks: Buffer[]): Buffer => {
  const head = Buffer.from('RIFF....WEBP', 'latin1');
  const body = Buffer.concat(chunks);
  head.writeUInt32LE(body.length + 4, 4);
  return Buffer.concat([head, body]);
};
/** A key frame of VP8 (RFC 6386 §9.1): three bytes, the start code, and the sides in 14 bits each. */
const lossy = (width: number, height: number): Buffer => {
  const frame = Buffer.from([0, 0, 0, 0x9d, 0x01, 0x2a, 0, 0, 0, 0, 0]);
  frame.writeUInt16LE(width, 6);
  frame.writeUInt16LE(height, 8);
  return chunk('VP8 ', frame);
};
/** A signature and the sides less one in 14 bits each (RFC 9649 §3.4). */
const lossless = (width: number, height: number): Buffer => {
  const content = Buffer.alloc(10);
  content[0] = 0x2f;
  content.writeUInt32LE((width - 1) | ((height - 1) << 14), 1);
  return chunk('VP8L', content);
};
const extended = (width: number, height: number): Buffer => {
  const content = Buffer.alloc(10);
  content.writeUIntLE(width - 1, 4, 3);
  content.writeUIntLE(height - 1, 7, 3);
  return chunk('VP8X', content);
};

describe('a WebP image', () => {
  it.each<[string, Buffer]>([
    ['lossy', webp(lossy(200, 40))],
    ['lossless', webp(lossless(200, 40))],
    ['extended, with a profile', webp(extended(200, 40), chunk('ICCP', Buffer.alloc(7)), lossy(200, 40))],
    ['of 4096 pixels', webp(lossless(4096, 4096))],
  ])('is taken: %s', (_form, file) => {
    expect(() => assertWebp(file)).not.toThrow();
  });

  it.each<[string, Buffer, RegExp]>([
    ['of 4097 pixels', webp(lossless(4097, 1)), /1 to 4096 pixels/],
    ['of 4097 pixels, lossy', webp(lossy(1, 4097)), /1 to 4096 pixels/],
    ['of 16 million pixels', webp(extended(1 << 24, 1), lossy(1, 1)), /1 to 4096 pixels/],
    ['without a pixel', webp(lossy(0, 1)), /1 to 4096 pixels/],
    ['that is animated', webp(extended(9, 9), chunk('ANIM', Buffer.alloc(6)), lossy(9, 9)), /animated/],
    ['with something behind it', Buffer.concat([webp(lossy(9, 9)), Buffer.from('<script>')]), /damaged/],
    ['that ends early', webp(lossy(9, 9)).subarray(0, -2), /damaged/],
    ['with a chunk that ends outside', webp(lossy(9, 9), Buffer.from('EXIF\xff\xff\xff\x7f', 'latin1')), /damaged/],
    ['without a picture', webp(extended(9, 9)), /damaged/],
    ['with another form first', webp(chunk('EXIF', Buffer.alloc(20))), /damaged/],
    ['that is empty', Buffer.alloc(0), /damaged/],
  ])('is refused: %s', (_form, file, words) => {
    expect(() => assertWebp(file)).toThrow(words);
  });
});

it('an animated PNG is refused', () => {
  const part = (type: string, content: Buffer) => {
    const named = Buffer.concat([Buffer.from(type, 'latin1'), content]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(content.length);
    sum.writeUInt32BE(crc32(named));
    return Buffer.concat([length, named, sum]);
  };
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const parts = [signature, part('IHDR', header), part('acTL', Buffer.alloc(8)), part('IEND', Buffer.alloc(0))];
  expect(() => assertPng(Buffer.concat(parts))).toThrow(/animated/);
});
