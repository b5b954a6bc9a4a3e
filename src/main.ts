import './process-start';
import 'reflect-metadata';
import { AppModule } from './app.module';
import { configOrExit } from './settings/env';
import { exitWith, startServer } from './server';

const config = configOrExit();
void startServer(AppModule.with(config), config).catch(exitWith);
