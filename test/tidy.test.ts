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

/** Bun's own scanner sees what is loaded when the program runs; types are gone for it, so those are read from the text. */
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

const inFolder = (folder: string) => productFiles.filter(({ path }) => isIn(path, folder));
const isOurs = (target: string) => sourceRoots.some((folder) => isIn(target, folder));

test("the rules see the source", () => {
  expect(files.length).toBeGreaterThan(100);
  const self = files.find(({ path }) => path === "test/tidy.test.ts");
  expect(self?.imports.map(({ target }) => target)).toContain("node:path");
});

describe("directions", () => {
  test("api/ and raft/core/ import nothing of ours outside themselves", () => {
    for (const folder of ["src/api", "raft/core"]) {
      expect(breaches(inFolder(folder), (target) => !isOurs(target) || isIn(target, folder))).toEqual([]);
    }
  });

  test("raft/ knows nothing of src/", () => {
    expect(breaches(inFolder("raft"), (target) => !isIn(target, "src"))).toEqual([]);
  });

  test("only storage/replicated and gossip import raft/, and only through its index", () => {
    const mayImport = ["src/storage/replicated", "src/gossip"];
    const allowed = (target: string, { path }: SourceFile) =>
      !isIn(target, "raft") || (target === "raft/index.ts" && mayImport.some((folder) => isIn(path, folder)));
    expect(breaches(inFolder("src"), allowed)).toEqual([]);
  });

  test("only gossip imports libp2p", () => {
    const allowed = (target: string, { path }: SourceFile) => !/libp2p/.test(target) || isIn(path, "src/gossip");
    expect(breaches(productFiles, allowed)).toEqual([]);
  });

  test("nothing imports test/ or chaos/", () => {
    const product = [...inFolder("src"), ...inFolder("raft"), ...inFolder("scripts")];
    expect(breaches(product, (target) => !isIn(target, "test") && !isIn(target, "chaos"))).toEqual([]);
  });

  /**
   * Modules that other layers use as well: the parsed request, which content negotiation reads too, and the code that
   * reads and follows configuration files.
   */
  const vocabulary = ["src/http/request-info.ts", "src/config/configuration-file.ts", "src/config/follow-file.ts"];

  /** Folder → folders that it must not load; a type alone does not make a layer depend on the one above it. */
  test.each([
    ["src/storage", ["http", "registry", "cacher", "admission", "cli", "controllers", "config", "pki"]],
    ["src/cacher", ["http", "registry", "admission", "cli", "controllers", "config", "pki"]],
    ["src/registry", ["http", "cli", "controllers", "config", "pki"]],
    ["src/admission", ["http", "cli", "controllers", "cacher", "config", "pki"]],
    ["src/schema", ["http", "registry", "storage", "cacher", "codec", "admission", "cli", "patch", "config"]],
    ["src/scheme", ["http", "registry", "storage", "cacher", "admission", "cli", "patch", "config"]],
    ["src/codec", ["http", "registry", "cacher", "admission", "cli", "patch", "config"]],
    ["src/patch", ["http", "registry", "storage", "cacher", "admission", "cli", "config"]],
    ["src/authorization", ["registry", "storage", "cli", "config"]],
    ["src/config", ["http", "registry", "storage", "cacher", "scheme", "schema", "pki", "cli"]],
    ["src/http", ["cli", "config", "pki", "controllers"]],
  ])("%s does not depend on the layers above it", (folder, above) => {
    const allowed = (target: string, _: SourceFile, { typeOnly }: ImportLine) =>
      typeOnly || vocabulary.includes(target) || !above.some((name) => isIn(target, `src/${name}`));
    expect(breaches(inFolder(folder), allowed)).toEqual([]);
  });

  test("only the command line and the index load the server, and nothing loads the command line but main", () => {
    const allowed = (target: string, { path }: SourceFile) => {
      if (target === "src/server.ts") return path === "src/cli/up.ts" || path === "src/index.ts";
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
  test("every folder below src is on the map", () => {
    const known = [
      "admission",
      "agent",
      "aggregation",
      "api",
      "apply",
      "audit",
      "authentication",
      "authorization",
      "cacher",
      "cel",
      "cli",
      "cluster",
      "codec",
      "config",
      "controllers",
      "extensions",
      "flowcontrol",
      "gossip",
      "http",
      "observability",
      "outbound",
      "patch",
      "pki",
      "registry",
      "schema",
      "scheme",
      "storage",
    ];
    const folders = new Set(inFolder("src").map(({ path }) => path.split("/").slice(1, -1)[0] ?? ""));
    expect([...folders].filter((folder) => folder !== "" && !known.includes(folder))).toEqual([]);
  });

  test("directly in src lie only main, server, index and version files", () => {
    const direct = inFolder("src").filter(({ path }) => dirname(path) === "src");
    expect(direct.map(({ path }) => basename(path)).filter((name) => !/^(main|server|index)\.ts$/.test(name))).toEqual(
      [],
    );
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

describe("text", () => {
  /** Built from parts, so that this file does not contain them. */
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

  /** Text that becomes a program; each place on the list builds it from constants of ours only. */
  const mayBuildRegExp: readonly string[] = ["test/tidy.test.ts"];

  test("no program is made from text", () => {
    const product = files.filter(({ path }) => !path.endsWith(".test.ts"));
    expect(places(product, /\beval\(|\bnew Function\(/)).toEqual([]);
    const builders = product.filter(({ path }) => !mayBuildRegExp.includes(path));
    expect(places(builders, /\b(?:new )?RegExp\(/)).toEqual([]);
  });

  test("only the command line and the log write to the console of the process", () => {
    const mayWrite = ["src/cli", "src/observability/logs.ts", "src/main.ts"];
    const product = [...inFolder("src"), ...inFolder("raft")].filter(
      ({ path }) => !mayWrite.some((place) => isIn(path, place)),
    );
    expect(places(product, /\bconsole\.|process\.(?:stdout|stderr)\b/)).toEqual([]);
  });

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
