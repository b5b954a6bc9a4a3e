import { createRoot } from 'react-dom/client';
import { App } from './app';
import { firstWords, SpeechProvider } from './i18n/texts';
import { findOffer } from './offer';
import { keepReturnTo } from './tab-memory';
import './styles/base.css';
import './styles/layout.css';
import './styles/parts.css';

void findOffer();
keepReturnTo();

createRoot(document.getElementById('root')!).render(
  <SpeechProvider first={await firstWords()}>
    <App />
  </SpeechProvider>,
);
