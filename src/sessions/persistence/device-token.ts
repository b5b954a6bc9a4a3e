import { sha256Hex } from '../../platform/crypto/key-ring';
import type { Random } from '../../shared/random';

const seriesBytes = 16;
const tokenBytes = 32;

/**
 * The token of a trusted device: 256 bits. The first half, the series, stays the same for the life of the device. The
 * second half is replaced at each use. A token that has a known series and an unknown second half was therefore valid
 * before: it is a replay, however old it is.
 */
export interface DeviceToken {
  readonly text: string;
  readonly seriesHash: string;
  readonly hash: string;
}

export function newDeviceToken(random: Random): DeviceToken {
  return tokenOf(random.bytes(tokenBytes));
}

/** Returns undefined for every text that this service cannot have issued. */
export function parseDeviceToken(text: string): DeviceToken | undefined {
  if (!/^[\w-]{43}$/.test(text)) return undefined;
  const token = tokenOf(Buffer.from(text, 'base64url'));
  // The last character has two bits that are not part of the token. Only one spelling is the issued one.
  return token.text === text ? token : undefined;
}

/** @param mac a MAC of the token, in hexadecimal, from which the new second half is made */
export function successorOf({ text }: DeviceToken, mac: string): DeviceToken {
  const series = Buffer.from(text, 'base64url').subarray(0, seriesBytes);
  return tokenOf(Buffer.concat([series, Buffer.from(mac, 'hex').subarray(0, tokenBytes - seriesBytes)]));
}

function tokenOf(bytes: Buffer): DeviceToken {
  const text = bytes.toString('base64url');
  return { text, seriesHash: sha256Hex(bytes.subarray(0, seriesBytes).toString('base64url')), hash: sha256Hex(text) };
}
