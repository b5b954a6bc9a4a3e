/** Six ASCII digits and nothing else: no spaces, no full-width digits, no other notation of a number (T095). */
export function isCodeShaped(code: string): boolean {
  return /^[0-9]{6}$/.test(code);
}
