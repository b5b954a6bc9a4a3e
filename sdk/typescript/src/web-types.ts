/*
 * The types of the web platform that the declarations of this package use. In a program with the library "dom" or
 * @types/node, they are the types of that library. In any other program they are the small types of this file, so that
 * the package needs no library. scripts/build-sdk.mjs adds the imports of this file to the declarations.
 */

/** The instances of a global class, or `Fallback` if the program does not know the class. */
type Instance<Name extends string, Fallback> =
  typeof globalThis extends Record<Name, { prototype: infer Known }> ? Known : Fallback;

export type AbortSignal = Instance<
  'AbortSignal',
  {
    readonly aborted: boolean;
    addEventListener(type: 'abort', listener: () => void): void;
    removeEventListener(type: 'abort', listener: () => void): void;
  }
>;
export type Blob = Instance<
  'Blob',
  { readonly size: number; readonly type: string; arrayBuffer(): Promise<ArrayBuffer>; text(): Promise<string> }
>;
export type CryptoKey = Instance<
  'CryptoKey',
  { readonly type: string; readonly extractable: boolean; readonly algorithm: object; readonly usages: string[] }
>;
export type File = Instance<'File', Blob & { readonly name: string }>;
export type FormData = Instance<'FormData', { append(name: string, value: unknown): void }>;
export type Headers = Instance<
  'Headers',
  { get(name: string): string | null; set(name: string, value: string): void; has(name: string): boolean }
>;

interface SmallRequestInit {
  body?: unknown;
  headers?: unknown;
  method?: string;
  signal?: AbortSignal | null;
  cache?: string;
  credentials?: string;
  redirect?: string;
}

export type Request = Instance<
  'Request',
  { readonly url: string; readonly method: string; readonly headers: Headers; text(): Promise<string> }
>;
export type Response = Instance<
  'Response',
  {
    readonly ok: boolean;
    readonly status: number;
    readonly headers: Headers;
    json(): Promise<unknown>;
    text(): Promise<string>;
    blob(): Promise<Blob>;
  }
>;

type Fetch = typeof globalThis extends { fetch: infer Known }
  ? Known
  : (input: Request | string, init?: SmallRequestInit) => Promise<Response>;

export type RequestInit = typeof globalThis extends { fetch: (input: never, init?: infer Known) => unknown }
  ? NonNullable<Known>
  : SmallRequestInit;

export declare const fetch: Fetch;
