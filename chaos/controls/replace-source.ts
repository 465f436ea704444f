export interface Replacement {
  /** Name of the control, and of the plugin. */
  readonly name: string;
  /** Matches the path of the source file. */
  readonly file: RegExp;
  readonly correct: string;
  readonly broken: string;
}

/** Replaces one line of a source file as it is loaded, in a server that runs after this. */
export function replaceSource({ name, file, correct, broken }: Replacement): void {
  Bun.plugin({
    name,
    setup(build) {
      build.onLoad({ filter: file }, async ({ path }) => {
        const text = await Bun.file(path).text();
        if (!text.includes(correct)) throw new Error(`${path} has changed: it lacks ${correct}`);
        return { contents: text.replace(correct, broken), loader: "ts" };
      });
    },
  });
}
