import type { Texts } from './en';

export const texts: Texts = {
  unsaved: 'Ihre Änderungen sind nicht gespeichert. Ohne Speichern verlassen?',
  sections: { profile: 'Profil', security: 'Sicherheit', devices: 'Geräte', activity: 'Aktivität' },
  home: 'Weiter zu {name}',
  details: {
    kind: 'Konto',
    kinds: { password: 'Konto bei {name}', ldap: 'Firmenkonto', oidc: 'Anmeldung mit {name}' },
    changedBy: 'Diese Angaben pflegt Ihre Administration. Fragen Sie dort nach, wenn etwas nicht stimmt.',
    fromCompany: 'Diese Angaben kommen aus Ihrem Firmenkonto. Wenn etwas nicht stimmt, wird es dort geändert.',
    help: 'Hilfe holen',
  },
  check: {
    title: 'Sicherheitscheck',
    well: 'Alles in Ordnung. Es gibt nichts zu tun.',
    open: { one: 'Es gibt eine Sache zu tun.', more: 'Zu tun: {count}.' },
    review: 'Ansehen',
    passwordAlone:
      'Ihr Passwort allein öffnet Ihr Konto. Mit einer Authenticator-App reicht ein gestohlenes Passwort nicht aus.',
    mailedCodes:
      'Ihre Codes kommen nur per E-Mail. Eine Authenticator-App funktioniert auch, wenn Sie Ihre E-Mails nicht lesen können.',
    mailedCodesOrPasskey:
      'Ihre Codes kommen nur per E-Mail. Eine Authenticator-App oder ein Passkey funktioniert auch, wenn Sie Ihre E-Mails nicht lesen können.',
    noPasskey:
      'Sie haben keinen Passkey. Ein Passkey ist schneller als ein Passwort, und keine gefälschte Seite kann ihn stehlen.',
    noCodes: 'Ohne Wiederherstellungscodes sind Sie ausgesperrt, wenn Ihre üblichen Codes Sie nicht erreichen.',
    fewCodes: 'Sie haben nur noch wenige Wiederherstellungscodes: {count}.',
    passwordExpires: 'Ihr Passwort läuft {time} ab.',
    setUp: 'App einrichten',
    addPasskey: 'Passkey hinzufügen',
    makeCodes: 'Codes erstellen',
    changePassword: 'Passwort ändern',
  },
  signIn: {
    title: 'Anmeldung',
    at: 'Sie melden sich mit {name} an.',
    password: 'Ihr Passwort gehört zu {name}. Es wird dort geändert, und niemand kennt es hier.',
  },
  factor: {
    asked: 'Bei der Anmeldung werden Sie nach ihrem Code gefragt, weil sie eingerichtet ist.',
    notAsked: 'Die Anmeldung fragt hier nicht danach.',
  },
  codesNotAsked: 'Die Anmeldung fragt hier derzeit nach keinem Code.',
  notMe: {
    open: 'Das war ich nicht',
    title: 'Waren Sie das nicht?',
    gotIn:
      'Dann ist oder war jemand anderes mit Ihrem Konto angemeldet. Wir melden alle Geräte außer diesem ab. Danach wählen Sie ein neues Passwort, damit niemand wieder hineinkommt.',
    knewPassword:
      'Dann kennt jemand Ihr Passwort: Nur der Code war falsch. Wir melden alle Geräte außer diesem ab. Danach wählen Sie ein neues Passwort.',
    refused:
      'Mit diesem Versuch ist niemand hineingekommen. Wenn Sie unsicher sind, melden wir alle Geräte außer diesem ab, und Sie wählen ein neues Passwort.',
    gotInCompany:
      'Dann ist oder war jemand anderes mit Ihrem Konto angemeldet. Wir melden alle Geräte außer diesem ab. Ändern Sie danach das Passwort Ihres Firmenkontos, damit niemand wieder hineinkommt.',
    knewPasswordCompany:
      'Dann kennt jemand Ihr Passwort: Nur der Code war falsch. Wir melden alle Geräte außer diesem ab. Ändern Sie danach das Passwort Ihres Firmenkontos.',
    refusedCompany:
      'Mit diesem Versuch ist niemand hineingekommen. Wenn Sie unsicher sind, melden wir alle Geräte außer diesem ab, und Sie ändern das Passwort Ihres Firmenkontos.',
    act: 'Alle anderen abmelden',
    busy: 'Wird abgemeldet …',
    stopped: 'Alle anderen Geräte sind abgemeldet: {count}.',
    nextTitle: 'Wählen Sie jetzt ein neues Passwort',
    next: 'Wer Ihr Passwort kennt, kann sich wieder anmelden, bis Sie es ändern.',
    unknown: 'Sie kennen Ihr Passwort nicht oder haben keines?',
    link: 'Link anfordern',
    companyTitle: 'Ändern Sie jetzt das Passwort Ihres Firmenkontos',
    company:
      'Ihr Passwort gehört zu Ihrem Firmenkonto und lässt sich hier nicht ändern. Ändern Sie es jetzt dort, oder rufen Sie Ihre Administration an. Bis dahin kann sich wieder anmelden, wer es kennt.',
    later: 'Später',
    close: 'Schließen',
    changed: 'Alle anderen Geräte sind abgemeldet: {count}. Ihr Passwort wurde geändert.',
    unchanged: 'Alle anderen Geräte sind abgemeldet: {count}. Ihr Passwort ist noch das alte.',
    companyDone: 'Alle anderen Geräte sind abgemeldet: {count}. Ändern Sie jetzt das Passwort Ihres Firmenkontos.',
    passkeys: 'Sehen Sie bitte auch Ihre Passkeys durch, und entfernen Sie jeden, der nicht Ihrer ist.',
    toPasskeys: 'Meine Passkeys',
    toPassword: 'Passwort ändern',
  },
  sessions: {
    title: 'Wo Sie angemeldet sind',
    current: 'Dieser Browser',
    since: 'Angemeldet {time}',
    used: 'Zuletzt verwendet {time}',
    end: 'Abmelden',
    ended: 'Dieses Gerät ist abgemeldet.',
    endOthers: 'Überall sonst abmelden',
    endedOthers: 'Sie sind überall sonst abgemeldet. Geräte: {count}.',
    only: 'Sie sind nirgendwo sonst angemeldet.',
  },
  devices: {
    title: 'Vertrauenswürdige Geräte',
    intro: 'Diese Geräte brauchen {days} Tage lang keinen Code, nachdem Sie ihnen vertraut haben.',
    none: 'Sie vertrauen keinem Gerät.',
    since: 'Hinzugefügt {time}',
    used: 'Zuletzt verwendet {time}',
    end: 'Entfernen',
    ended: 'Das Gerät braucht wieder einen Code.',
  },
  logins: {
    title: 'Letzte Anmeldungen',
    intro:
      'Stammt eine davon nicht von Ihnen? Wählen Sie „Das war ich nicht“, und wir helfen Ihnen, Ihr Konto zu schützen.',
    none: 'Es gibt noch keine Anmeldungen.',
    all: 'Mehr anzeigen',
    success: 'Erfolgreich',
    refused: 'Abgelehnt',
    reasons: {
      LOGIN_401001: 'Falsches Passwort',
      LOGIN_401004: 'Konto gesperrt',
      AUTH_MFA_401001: 'Falscher Code',
      MFA_401001: 'Falscher Code',
      PASSKEY_401001: 'Falscher Passkey',
    },
  },
};
