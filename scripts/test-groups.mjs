import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** The folders whose files start the service in their own process, with the ends of their names. */
const GROUPED = { spec: '.e2e-spec.ts', db: '.db-spec.ts' };
/** Such a file changes what the other files of a group would share: modules, or limits while it loads. */
const CHANGES_SHARED = /\bjest\.(un)?mock\(|^Object\.assign\(|^jest\.setTimeout\(/m;
/** The source of about six files. */
const MOST_BYTES = 64 * 1024;

/**
 * The jest configuration for a run of all tests. Jest loads the whole service anew for each test file, and new code is slow until
 * it has run often. So one file, a group, requires several files that start the service, each in a
 * `describe` with its path.
 * @param config the configuration of jest.config.js
 * @param directory the files of the groups are written to `groups` in it
 */
export function inGroups({ projects, ...config }, directory) {
  const groups = join(directory, 'groups');
  mkdirSync(groups);
  return {
    ...config,
    rootDir: projects[0].rootDir,
    projects: projects.map((project) => grouped(project, groups)),
  };
}

/** Whether a file of a test result is a group. The first title of each of its tests is the path of the file that has the test. */
export const isGroup = (file) => /\/groups\/[^/]+\/\d+\.js$/.test(file);

function grouped(project, directory) {
  const folder = project.displayName.split('-')[0];
  if (!(folder in GROUPED)) return project;

  const files = filesOf(project, folder);
  const alone = files.filter((file) => CHANGES_SHARED.test(readFileSync(file, 'utf8')));
  const groups = join(directory, project.displayName);
  mkdirSync(groups);
  parts(files.filter((file) => !alone.includes(file))).forEach((part, index) =>
    writeFileSync(join(groups, `${index + 1}.js`), part.map((file) => requiring(file, project.rootDir)).join('')),
  );
  const { testMatch: _match, testRegex: _regex, ...rest } = project;
  return {
    ...rest,
    roots: ['<rootDir>', groups],
    testMatch: [join(groups, '*.js'), ...alone],
    transformIgnorePatterns: [...project.transformIgnorePatterns, `^${groups}/`],
  };
}

/** The files that jest would take by `testMatch` or `testRegex`. */
function filesOf({ rootDir, testRegex, testPathIgnorePatterns = [] }, folder) {
  const path = join(rootDir, 'test', folder);
  const matches = (patterns) => (file) => patterns.some((pattern) => new RegExp(pattern).test(file));
  return readdirSync(path, { recursive: true })
    .filter((name) => name.endsWith(GROUPED[folder]))
    .sort()
    .map((name) => join(path, name))
    .filter(matches(testRegex ?? ['']))
    .filter((file) => !matches(testPathIgnorePatterns)(file));
}

function parts(files) {
  const all = [];
  let space = 0;
  for (const file of files) {
    const { length } = readFileSync(file);
    if (length > space) {
      all.push([]);
      space = MOST_BYTES;
    }
    all.at(-1).push(file);
    space -= length;
  }
  return all;
}

/** A spy on a class would last for the next file. */
const requiring = (file, rootDir) => `describe(${JSON.stringify(relative(rootDir, file))}, () => {
  require(${JSON.stringify(file)});
  afterAll(() => jest.restoreAllMocks());
});
`;
