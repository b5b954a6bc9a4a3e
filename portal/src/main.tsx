import { createRoot } from 'react-dom/client';
import { App } from './app';
import { takeArrival } from './external/arrival';
import { loadFirstLanguage, SpeechProvider } from './i18n/texts';
import { findOffer } from './offer';
import { keepAddress } from './tab-memory';
import './styles/base.css';
import './styles/layout.css';
import './styles/parts.css';

takeArrival();
keepAddress();
void findOffer();

const first = await loadFirstLanguage();
createRoot(document.getElementById('root')!).render(
  <SpeechProvider first={first}>
    <App />
  </SpeechProvider>,
);
