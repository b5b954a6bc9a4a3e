import type { Texts } from './en';

export const texts: Texts = {
  busy: 'Sie werden angemeldet …',
  title: 'Sie sind nicht angemeldet',
  refused: {
    LOGIN_404001:
      'Sie haben hier kein Konto. Bitten Sie Ihre Administration darum, oder versuchen Sie es mit einem anderen Konto Ihres Unternehmens.',
    APP_404001: 'Diese Art der Anmeldung gibt es nicht mehr. Wählen Sie eine andere.',
    other: 'Die Anmeldung ist nicht gelungen. Versuchen Sie es in einigen Minuten erneut.',
  },
  again: 'Erneut versuchen',
  otherWay: 'Anders anmelden',
  told: {
    title: 'Sie können dieses Fenster schließen',
    text: 'Machen Sie in dem Fenster weiter, aus dem Sie gekommen sind.',
  },
  fresh: {
    intro:
      'Ihre letzte Anmeldung ist eine Weile her. Melden Sie sich noch einmal mit {name} an. Nichts, was Sie eingegeben haben, geht verloren.',
    factor:
      'Dieser Schritt braucht Ihren zweiten Faktor. Melden Sie sich mit {name} an, danach werden Sie nach einem Code gefragt.',
    open: 'Weiter mit {name}',
    waiting: 'Machen Sie in dem Fenster von {name} weiter, das sich geöffnet hat. Diese Seite wartet darauf.',
    again: 'Fenster noch einmal öffnen',
    blocked:
      'Ihr Browser hat kein Fenster geöffnet. Erlauben Sie dieser Seite, Fenster zu öffnen, und versuchen Sie es erneut.',
    ended: 'Sie haben fünfmal einen falschen Code eingegeben. Beginnen Sie noch einmal.',
  },
};
