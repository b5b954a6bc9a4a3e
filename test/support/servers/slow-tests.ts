// The time limit in jest.config.js is one for all projects: jest reads it nowhere else. Tests of processes take longer.
jest.setTimeout(120_000);
