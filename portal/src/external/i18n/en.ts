/** The texts about the sign-in at an identity provider. The other languages have the same keys. */
export const texts = {
  busy: 'Signing you in…',
  title: 'You are not signed in',
  refused: {
    LOGIN_404001:
      'You have no account here. Ask your administrator for one, or try again with another account of your company.',
    APP_404001: 'This way to sign in is no longer offered. Choose another one.',
    other: 'The sign-in did not succeed. Try again in a few minutes.',
  },
  again: 'Try again',
  otherWay: 'Another way to sign in',
  told: { title: 'You can close this window', text: 'Go on in the window that you came from.' },
  fresh: {
    intro: 'Your last sign-in was a while ago. Sign in with {name} once more. Nothing that you have typed is lost.',
    factor: 'This step needs your second factor. Sign in with {name}, and then you are asked for a code.',
    open: 'Continue with {name}',
    waiting: 'Go on in the window of {name} that has opened. This page waits for it.',
    again: 'Open the window again',
    blocked: 'Your browser did not open a window. Allow windows of this page, and try again.',
    ended: 'You entered a wrong code five times. Begin again.',
  },
};

export type Texts = typeof texts;
