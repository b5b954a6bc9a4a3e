import { createRoot } from 'react-dom/client';
import { App } from './app';
import { SpeechProvider } from './i18n/texts';
import './styles/base.css';
import './styles/layout.css';
import './styles/parts.css';

createRoot(document.getElementById('root')!).render(
  <SpeechProvider>
    <App />
  </SpeechProvider>,
);
