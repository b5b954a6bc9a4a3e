// Bundles a program as scripts/bundle.mjs bundles the service, so that both start from few files.
import { basename, dirname } from 'node:path';
import { rolldown } from 'rolldown';
import { minifySync } from 'rolldown/utils';
import { withModuleFunctions } from '../../scripts/module-functions.mjs';

const optional = /^(@fastify|@nestjs)\/|^(class-transformer|class-validator)/;

export async function bundle(input, file) {
  const made = await rolldown({
    input,
    platform: 'node',
    onLog: () => undefined,
    external: (id) => missing(id, input),
  });
  await made.write({
    dir: dirname(file),
    entryFileNames: basename(file),
    chunkFileNames: '[name].cjs',
    format: 'cjs',
    minify: false,
    codeSplitting: { groups: [{ name: 'packages', test: /node_modules/, maxSize: 600_000 }] },
    plugins: [
      {
        name: 'small',
        renderChunk: (code, { name }) =>
          withModuleFunctions(
            minifySync(name, code, {
              compress: false,
              mangle: { keepNames: true },
              codegen: { removeWhitespace: true },
            }).code,
          ),
      },
    ],
  });
}

/** Nest loads these packages only if they are installed. */
function missing(id, from) {
  if (!optional.test(id)) return false;
  try {
    import.meta.resolve(id, from);
    return false;
  } catch {
    return true;
  }
}
