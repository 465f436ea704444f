import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";

/** The house rules, one test each; a failure lists every place that breaks the rule. */

const root = join(import.meta.dir, "..");
const sourceRoots = ["src", "raft", "test", "chaos", "scripts"];
const linesMax = 600;

interface SourceFile {
  /** From the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly lines: readonly string[];
  readonly imports: readonly ImportLine[];
}

interface ImportLine {
  readonly specifier: string;
  /** Path from the root for a relative import, the package name otherwise. */
  readonly target: string;
  readonly typeOnly: boolean;
}

const files = readSources();
const productFiles = files.filter(({ path }) => !path.endsWith(".test.ts"));

function readSources(): SourceFile[] {
  const paths = sourceRoots.flatMap((folder) => [...new Bun.Glob(`${folder}/**/*.{ts,tsx}`).scanSync({ cwd: root })]);
  return paths.filter((path) => !path.includes("/generated/")).map(readSource);
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(root, path), "utf8").replace(/^#!/, "//");
  return { path, text, lines: text.split("\n"), imports: importsOf(path, text) };
}

/** Bun's scanner reports the imports that are loaded at run time. Type imports are read from the text. */
function importsOf(path: string, text: string): ImportLine[] {
  const loader = path.endsWith("x") ? "tsx" : "ts";
  const loaded = new Bun.Transpiler({ loader }).scanImports(text).map(({ path: specifier }) => specifier);
  const written = [...text.matchAll(/^(?:import|export)\s(?:type\s)?[^;"']*?from\s+"([^"]+)"/gm)].map(
    (match) => match[1] ?? "",
  );
  const typed = [...text.matchAll(/\bimport\("([^"]+)"\)/g)].map((match) => match[1] ?? "");
  return [...new Set([...loaded, ...written, ...typed])].map((specifier) => ({
    specifier,
    target: specifier.startsWith(".") ? normalize(join(dirname(path), specifier)) : specifier,
    typeOnly: !loaded.includes(specifier),
  }));
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** `file → import` for every import that is not allowed. */
function breaches(
  from: readonly SourceFile[],
  isAllowed: (target: string, file: SourceFile, line: ImportLine) => boolean,
): string[] {
  return from.flatMap((file) =>
    file.imports
      .filter((line) => !isAllowed(line.target, file, line))
      .map((line) => `${file.path} → ${line.specifier}`),
  );
}

/** Returns one line for each cycle of imports, with its files in the order in which they import each other. */
function importCycles(among: readonly SourceFile[]): string[] {
  const byPath = new Map(among.map((file) => [file.path, file]));
  const finished = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: SourceFile, above: readonly string[]): void => {
    if (finished.has(file.path)) return;
    const start = above.indexOf(file.path);
    if (start !== -1) {
      cycles.push([...above.slice(start), file.path].join(" → "));
      return;
    }
    for (const { target } of file.imports) {
      const next = byPath.get(target);
      if (next !== undefined) visit(next, [...above, file.path]);
    }
    finished.add(file.path);
  };
  for (const file of among) visit(file, []);
  return cycles;
}

const inFolder = (folder: string) => productFiles.filter(({ path }) => isIn(path, folder));
const isOurs = (target: string) => sourceRoots.some((folder) => isIn(target, folder));

test("the rules see the source", () => {
  expect(files.length).toBeGreaterThan(100);
  const self = files.find(({ path }) => path === "test/tidy.test.ts");
  expect(self?.imports.map(({ target }) => target)).toContain("node:path");
});

/** The folders of src, from the top down. A file imports only from its own folder and those below it, types included. */
const layers = [
  "cli",
  "server",
  "agent",
  "http",
  "cluster",
  "controllers",
  "admission",
  "kinds",
  "registry",
  "access",
  "client",
  "storage",
  "apply",
  "cel",
  "request",
  "api",
  "process",
] as const;

/** Returns the place in `layers`; -1 for the files directly in src, which lie above them all. */
function layerOf(path: string): number {
  return (layers as readonly string[]).indexOf(path.split("/")[1] ?? "");
}

describe("layers", () => {
  test("every folder below src is a layer", () => {
    const folders = new Set(inFolder("src").map(({ path }) => path.split("/").slice(1, -1)[0] ?? ""));
    expect([...folders].filter((folder) => folder !== "" && !layers.some((layer) => layer === folder))).toEqual([]);
  });

  test("imports go down, those of types too", () => {
    // Test aids may import from above, as the tests do that use them.
    const product = inFolder("src").filter(({ path }) => basename(path) !== "testing.ts");
    const allowed = (target: string, { path }: SourceFile) =>
      !/^src\/.*\.ts$/.test(target) || layerOf(target) >= layerOf(path);
    expect(breaches(product, allowed)).toEqual([]);
  });

  test("no files import each other in a circle, types included", () => {
    expect(importCycles(files)).toEqual([]);
  });

  test("raft/core/ imports nothing of ours outside itself", () => {
    expect(breaches(inFolder("raft/core"), (target) => !isOurs(target) || isIn(target, "raft/core"))).toEqual([]);
  });

  test("raft/ knows nothing of src/", () => {
    expect(breaches(inFolder("raft"), (target) => !isIn(target, "src"))).toEqual([]);
  });

  test("only storage/replicated and cluster/gossip import raft/, and only through its index", () => {
    const mayImport = ["src/storage/replicated", "src/cluster/gossip"];
    const allowed = (target: string, { path }: SourceFile) =>
      !isIn(target, "raft") || (target === "raft/index.ts" && mayImport.some((folder) => isIn(path, folder)));
    expect(breaches(inFolder("src"), allowed)).toEqual([]);
  });

  test("only cluster/gossip imports libp2p", () => {
    const allowed = (target: string, { path }: SourceFile) =>
      !/libp2p/.test(target) || isIn(path, "src/cluster/gossip");
    expect(breaches(productFiles, allowed)).toEqual([]);
  });

  test("nothing imports test/ or chaos/", () => {
    const product = [...inFolder("src"), ...inFolder("raft"), ...inFolder("scripts")];
    expect(breaches(product, (target) => !isIn(target, "test") && !isIn(target, "chaos"))).toEqual([]);
  });

  test("only the command line and the index load the server, and nothing loads the command line but main", () => {
    const allowed = (target: string, { path }: SourceFile) => {
      if (target === "src/server/server.ts") return path === "src/cli/up.ts" || path === "src/index.ts";
      return !isIn(target, "src/cli") || isIn(path, "src/cli") || path === "src/main.ts";
    };
    expect(breaches(inFolder("src"), allowed)).toEqual([]);
  });

  test("Elysia stays in http/", () => {
    const allowed = (target: string, { path }: SourceFile) => !isIn(target, "elysia") || isIn(path, "src/http");
    expect(breaches(inFolder("src"), allowed)).toEqual([]);
  });

  test("relative imports name the file with its ending, and the file is there", () => {
    const allowed = (target: string, _: SourceFile, { specifier }: ImportLine) =>
      !specifier.startsWith(".") || (/\.(ts|tsx|json|txt|html|css)$/.test(specifier) && existsSync(join(root, target)));
    expect(breaches(files, allowed)).toEqual([]);
  });
});

describe("files", () => {
  test("directly in src lie only main and index", () => {
    const direct = inFolder("src").filter(({ path }) => dirname(path) === "src");
    expect(direct.map(({ path }) => basename(path)).sort()).toEqual(["index.ts", "main.ts"]);
  });

  test(`no file is longer than ${linesMax} lines unless its first line says why`, () => {
    const tooLong = files.filter(({ lines }) => lines.length > linesMax && !/^\/\/ long: \S/.test(lines[0] ?? ""));
    expect(tooLong.map(({ path, lines }) => `${path}: ${lines.length} lines`)).toEqual([]);
  });

  test("files are named after their concept, in kebab case", () => {
    const bad = files.filter(({ path }) => {
      const name = basename(path).replace(/(\.test|\.d)?\.tsx?$/, "");
      return !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) || /^(utils?|helpers?|misc|common|shared)$/.test(name);
    });
    expect(bad.map(({ path }) => path)).toEqual([]);
  });

  test("a unit test lies beside the file or in the folder that it tests", () => {
    const tests = files.filter(({ path }) => path.endsWith(".test.ts") && /^(src|raft)\//.test(path));
    const folders = new Set(productFiles.map(({ path }) => dirname(path)));
    expect(tests.filter(({ path }) => !folders.has(dirname(path))).map(({ path }) => path)).toEqual([]);
  });
});

describe("documents", () => {
  const documents = ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "docs/attacks.md"];
  test.each(documents)("%s names files that exist", (document) => {
    const text = readFileSync(join(root, document), "utf8");
    const named = [...text.matchAll(/`([a-z][\w./-]*\/[\w.-]+\.ts)`/g)].map((match) => match[1] ?? "");
    const missing = named.filter((path) => !files.some((file) => file.path === path || file.path.endsWith(`/${path}`)));
    expect(missing).toEqual([]);
  });
});

describe("text", () => {
  /** Built from parts, so that this file does not match. */
  const forbidden: readonly (readonly [what: string, form: RegExp])[] = [
    ["a path outside the repository", /\.\.\/shared\b/],
    ["an absolute path of one machine", /(?<![\w.])\/(?:work|home\/[a-z]+|Users)\/[a-z]/],
    ["a note to do something later", new RegExp(`\\b${["TO", "DO"].join("")}\\b|\\b${["FIX", "ME"].join("")}\\b`)],
    ["a focused or skipped test", /\b(?:test|describe|it)\.(?:only|skip|todo)\b/],
    ["a switched-off type check", /@ts-(?:ignore|nocheck)/],
  ];

  test.each(forbidden)("no source file holds %s", (_, form) => {
    expect(places(files, form)).toEqual([]);
  });

  /** Files that may build patterns from text. Each uses only constants of its own. */
  const mayBuildRegExp: readonly string[] = ["test/tidy.test.ts"];

  test("no program is made from text", () => {
    const product = files.filter(({ path }) => !path.endsWith(".test.ts"));
    expect(places(product, /\beval\(|\bnew Function\(/)).toEqual([]);
    const builders = product.filter(({ path }) => !mayBuildRegExp.includes(path));
    expect(places(builders, /\b(?:new )?RegExp\(/)).toEqual([]);
  });

  test("only the command line and the log write to the console of the process", () => {
    const mayWrite = ["src/cli", "src/process/logs.ts", "src/main.ts"];
    const product = [...inFolder("src"), ...inFolder("raft")].filter(
      ({ path }) => !mayWrite.some((place) => isIn(path, place)),
    );
    expect(places(product, /\bconsole\.|process\.(?:stdout|stderr)\b/)).toEqual([]);
  });

  test("no sentence of a comment opens with a relative clause, uses a negated noun or an archaic word", () => {
    const odd = files.flatMap(({ path, text }) =>
      commentsOf(text)
        .filter(({ text }) => oddForms.some((form) => form.test(text)))
        .map((comment) => `${path}:${comment.line}: ${comment.text.slice(0, 100)}`),
    );
    expect(odd).toEqual([]);
  });

  test("no test has a name that opens with a relative clause or uses a negated noun", () => {
    const odd = files
      .filter(({ path }) => path.endsWith(".test.ts"))
      .flatMap(({ path, lines }) =>
        lines.flatMap((line, index) => {
          const name = /(?:\b(?:test|it|describe)|\))\(["`](.*?)["`],/.exec(line)?.[1] ?? "";
          return /^(?:what|who|whoever|whose|whatever)\b/i.test(name) || negatedNoun.test(name)
            ? [`${path}:${index + 1}: ${name}`]
            : [];
        }),
      );
    expect(odd).toEqual([]);
  });

  const relativeOpening = /^Of\b|(?:^|[.;:] )(?:What|Who|Whoever|Whose|Whatever|Of those)\b(?![^.]*\?)/;
  const negatedNoun = /(?<!\bthere )\b(?:is|are) no (?!longer\b|more\b|less\b|different\b)/i;
  const archaic =
    /[,;:] for (?:it|they|he|she|nobody|none)\b|\bnone of those (?:that|which)\b|\bso as it\b|\b(?:[wW]hosoever|thereof|therein|whereby|wherein|lest|whilst|amongst|anew)\b/;
  const oddForms = [relativeOpening, negatedNoun, archaic];

  /** Returns the comments that start a line, each as one line of text. Adjacent line comments are one comment. */
  function commentsOf(source: string): { readonly line: number; readonly text: string }[] {
    const blocks = source.matchAll(/^[ \t]*\/\*[^]*?\*\/|^[ \t]*\/\/.*(?:\n[ \t]*\/\/.*)*/gm);
    return [...blocks].map(({ 0: block, index }) => ({
      line: source.slice(0, index).split("\n").length,
      text: block
        .replace(/\*\/$/, "")
        .split("\n")
        .map((line) => line.replace(/^\s*(?:\/\*+|\*|\/\/+)/, "").trim())
        .join(" ")
        .trim(),
    }));
  }

  function places(among: readonly SourceFile[], form: RegExp): string[] {
    return among.flatMap(({ path, lines }) =>
      lines.flatMap((line, index) =>
        form.test(withoutComment(line)) ? [`${path}:${index + 1}: ${line.trim().slice(0, 100)}`] : [],
      ),
    );
  }

  function withoutComment(line: string): string {
    return /eval|Function|RegExp/.test(line) ? line.replace(/^\s*(?:\/\/|\*|\/\*\*).*$/, "") : line;
  }
});
