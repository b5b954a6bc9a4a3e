/** True for exactly six ASCII digits: no spaces, no full-width digits, no other notation of a number. */
export function isCodeShaped(code: string): boolean {
  return /^[0-9]{6}$/.test(code);
}
