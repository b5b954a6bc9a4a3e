/** What every answer carries: it is about one person's credentials, so nothing on the way keeps, guesses or passes it on. */
export const answerHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;
