/** The texts of the account page that no other page shows. The other languages have the same keys. */
export const texts = {
  unsaved: 'Your changes are not saved. Leave without saving them?',
  sections: { profile: 'Profile', security: 'Security', devices: 'Devices', activity: 'Activity' },
  home: 'Continue to {name}',
  details: {
    kind: 'Account',
    kinds: { password: '{name} account', ldap: 'Company account', oidc: 'You sign in with {name}' },
    changedBy: 'Your administrator keeps these details. If something is wrong, ask your administrator to correct it.',
    fromCompany: 'These details come from your company account. If something is wrong, it is changed there.',
    help: 'Get help',
  },
  check: {
    title: 'Security check',
    well: 'Everything is in order. There is nothing to do.',
    open: { one: 'There is one thing to do.', more: 'Things to do: {count}.' },
    review: 'Review',
    passwordAlone:
      'Your password alone opens your account. With an authenticator app, a stolen password is not enough.',
    mailedCodes: 'Your codes come by e-mail only. An authenticator app also works when you cannot read your e-mail.',
    mailedCodesOrPasskey:
      'Your codes come by e-mail only. An authenticator app or a passkey also works when you cannot read your e-mail.',
    noPasskey: 'You have no passkey. A passkey is faster than a password, and a fake page cannot steal it.',
    noCodes: 'Without recovery codes you are locked out when your usual codes do not reach you.',
    fewCodes: 'You have few recovery codes left: {count}.',
    passwordExpires: 'Your password expires {time}.',
    setUp: 'Set up app',
    addPasskey: 'Add passkey',
    makeCodes: 'Make codes',
    changePassword: 'Change password',
  },
  signIn: {
    title: 'Sign-in',
    at: 'You sign in with {name}.',
    password: 'Your password belongs to {name}. It is changed there, and nobody here knows it.',
  },
  factor: {
    asked: 'You are asked for its code when you sign in, because it is set up.',
    notAsked: 'Signing in here does not ask for it.',
  },
  codesNotAsked: 'Signing in here asks for no code at the moment.',
  notMe: {
    open: 'This was not me',
    title: 'Was this not you?',
    gotIn:
      'Then somebody else is signed in as you, or was. We sign out every device except this one. After that, choose a new password, so that nobody gets in again.',
    knewPassword:
      'Then somebody knows your password: only the code was wrong. We sign out every device except this one. After that, choose a new password.',
    refused:
      'Nobody got in with this attempt. If you are not sure, we sign out every device except this one, and you choose a new password.',
    gotInCompany:
      'Then somebody else is signed in as you, or was. We sign out every device except this one. After that, change the password of your company account, so that nobody gets in again.',
    knewPasswordCompany:
      'Then somebody knows your password: only the code was wrong. We sign out every device except this one. After that, change the password of your company account.',
    refusedCompany:
      'Nobody got in with this attempt. If you are not sure, we sign out every device except this one, and you change the password of your company account.',
    act: 'Sign out all others',
    busy: 'Signing out…',
    stopped: 'All other devices are signed out: {count}.',
    nextTitle: 'Now choose a new password',
    next: 'Whoever knows your password can sign in again until you change it.',
    unknown: 'You do not know your password, or have none?',
    link: 'Request a link',
    companyTitle: 'Now change your company password',
    company:
      'Your password belongs to your company account and cannot be changed here. Change it there now, or call your administrator. Whoever knows it can sign in again until then.',
    later: 'Later',
    close: 'Close',
    changed: 'All other devices are signed out: {count}. Your password has been changed.',
    unchanged: 'All other devices are signed out: {count}. Your password is still the old one.',
    companyDone: 'All other devices are signed out: {count}. Change the password of your company account now.',
    passkeys: 'Please also look at your passkeys, and remove any that is not yours.',
    toPasskeys: 'My passkeys',
    toPassword: 'Change password',
  },
  sessions: {
    title: 'Where you are signed in',
    current: 'This browser',
    since: 'Signed in {time}',
    used: 'Last used {time}',
    end: 'Sign out',
    ended: 'That device is signed out.',
    endOthers: 'Sign out everywhere else',
    endedOthers: 'You are signed out everywhere else. Devices: {count}.',
    only: 'You are signed in nowhere else.',
  },
  devices: {
    title: 'Trusted devices',
    intro: 'These devices need no code for {days} days after you trusted them.',
    none: 'You trust no device.',
    since: 'Added {time}',
    used: 'Last used {time}',
    end: 'Remove',
    ended: 'The device needs a code again.',
  },
  logins: {
    title: 'Last sign-ins',
    intro: 'Is there one that was not you? Choose “This was not me”, and we help you to protect your account.',
    none: 'There are no sign-ins yet.',
    all: 'Show more',
    success: 'Successful',
    refused: 'Refused',
    reasons: {
      LOGIN_401001: 'Wrong password',
      LOGIN_401004: 'Account locked',
      AUTH_MFA_401001: 'Wrong code',
      MFA_401001: 'Wrong code',
      PASSKEY_401001: 'Wrong passkey',
    },
  },
};

export type Texts = typeof texts;
