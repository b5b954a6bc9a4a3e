import './process-start';
import 'reflect-metadata';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DemoApplication } from './demo/demo-application';
import { DemoModule } from './demo/demo.module';
import { demoCaptchaToken, demoGuide } from './demo/demo-guide';
import { DemoSeed } from './demo/demo-seed';
import { configOrExit } from './settings/env';
import { exitWith, startServer } from './server';

/** `npm start`: the literal contract of the specification with demo accounts, reachable from this machine only. */
const config = configOrExit(
  {
    NODE_ENV: 'development',
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
    PORTAL: 'on',
    ADMIN_API: 'on',
    ADMIN_REQUIRES_MFA: 'false',
    OIDC: 'on',
    EVENT_RECEIVERS: 'on',
    CAPTCHA_TEST_TOKEN: demoCaptchaToken,
    RESET_RESPONSE_UID: 'token',
    TOTP_ENROLMENT_BINDING: 'ip',
    MFA_PENDING_BINDING: 'none',
  },
  // Browsers offer passkeys on http only for this name, and never for an IP address.
  (port) => ({ SYSTEM_URL: `http://localhost:${port}` }),
);

const prepare = async (app: NestFastifyApplication) => {
  await app.get(DemoSeed).run();
  await app.get(DemoApplication).register();
};

void startServer(DemoModule.with(config), config, { prepare, drainMs: 0 })
  .then((app) =>
    process.stdout.write(
      demoGuide((app.getHttpServer().address() as { port: number }).port, config.http.apiPrefix, config.systemUrl),
    ),
  )
  .catch(exitWith);
