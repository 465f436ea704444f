import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ClientHttp2Session } from "node:http2";
import { encode } from "cbor-x";
import fc from "fast-check";
import { configMap, jsonPatch, mergePatch, protobuf, strategicPatch, TestServer } from "./server.ts";

/** Time after which a request counts as hanging. No request here should take more than a second. */
const answerWaitMsMax = 4_500;
/** Requests of one campaign, set by `RUNS=<n>`. */
const campaign = Bun.env.RUNS === undefined ? undefined : Number(Bun.env.RUNS);
const requestsPerProperty = campaign ?? 400;
const timeoutMs = campaign === undefined ? 20_000 : 3_600_000;
const shortestDeadline = "1ms";

let server: TestServer;
let session: ClientHttp2Session;
beforeAll(async () => {
  server = await TestServer.start({ featureGates: { CBORServingAndStorage: true } });
  session = server.http2();
  await server.create("/api/v1/namespaces/default/configmaps", configMap("a", { data: { a: "1" } }));
});
afterAll(async () => {
  session.destroy();
  await server.close();
});

interface Shot {
  readonly method: string;
  readonly path: string;
  readonly type?: string;
  readonly accept?: string;
  readonly body?: Uint8Array;
}

/** Uses HTTP/2, because its `:path` is sent byte for byte: no client library normalises it. */
async function shoot(shot: Shot, tries = 3): Promise<number> {
  if (session.closed || session.destroyed) session = server.http2();
  try {
    return await send(session, shot);
  } catch (error) {
    // An invalid target costs the connection. Requests sent after it may be repeated.
    if (tries === 1 || (error as { code?: string }).code !== "ERR_HTTP2_GOAWAY_SESSION") throw error;
    session.destroy();
    return shoot(shot, tries - 1);
  }
}

function send(over: ClientHttp2Session, { method, path, type, accept, body }: Shot): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const stream = over.request({
    ":method": method,
    ":path": path,
    authorization: `Bearer ${server.running.token}`,
    "accept-encoding": "gzip",
    ...(type === undefined ? {} : { "content-type": type }),
    ...(accept === undefined ? {} : { accept }),
  });
  const timer = setTimeout(() => reject(new Error("no answer")), answerWaitMsMax);
  let code = 0;
  let isPassedOn = false;
  stream.on("response", (headers) => {
    code = Number(headers[":status"]);
  });
  // As upstream does, some mistakes of clients give a 500 without a reason, which passes on the error unchanged.
  stream.on("data", (chunk: Buffer) => {
    isPassedOn ||= code === 500 && !chunk.includes('"reason"');
  });
  stream.on("error", reject);
  stream.on("close", () => {
    clearTimeout(timer);
    resolve(isPassedOn ? 400 : code);
  });
  // Bun sends an empty body as an empty frame that ends nothing, and a server counts those as attacks.
  stream.end(body?.length === 0 ? undefined : body);
  return promise;
}

/**
 * Invalid requests are never the server's fault. Of the requests that upstream answers with 5xx by design, only those
 * with a deadline that a server cannot always meet are sent here.
 */
async function expectClientsFault(shot: Shot): Promise<void> {
  const code = await shoot(shot);
  // The body tells who is at fault, and GET has the same answer with its body.
  if (code === 500 && shot.method === "HEAD") return expectClientsFault({ ...shot, method: "GET" });
  if (code === 504 && shot.path.includes(`timeout=${shortestDeadline}`)) return;
  expect(code).toBeGreaterThanOrEqual(200);
  expect(code).toBeLessThan(500);
}

async function expectAlive(): Promise<void> {
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  expect(await shoot({ method: "GET", path: "/readyz" })).toBe(200);
  expect(await shoot({ method: "GET", path: "/api/v1/namespaces/default/configmaps/a" })).toBe(200);
}

const evilKeys = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "$patch", "$retainKeys"];
const word = fc.oneof(
  fc.constantFrom(...evilKeys, "metadata", "name", "labels", "data", "spec", "kind", "a", "", "finalizers"),
  fc.string({ maxLength: 12 }),
);
const leaf = fc.oneof(
  fc.constantFrom<unknown>(null, true, "", "a", 0, -1, 1e300, "9".repeat(30), { polluted: true }),
  fc.string(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
/** A document with such a number is read by the server's own parser, not by the runtime's. */
const unusualNumber = fc.constantFrom("1e2", "-1E-300", "12345678901234567890", "-0");
/** Objects are built as JSON text, so that `__proto__` is a key on the wire. */
const { document } = fc.letrec<{ document: string }>((tie) => ({
  document: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    leaf.map((value) => JSON.stringify(value)),
    unusualNumber,
    fc.array(fc.tuple(word, tie("document")), { maxLength: 4 }).map((pairs) => objectText(pairs)),
    fc.array(tie("document"), { maxLength: 4 }).map((items) => `[${items.join()}]`),
  ),
}));

function objectText(pairs: readonly (readonly [string, string])[]): string {
  return `{${pairs.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join()}}`;
}

const named = (name: string, more: string) => `{"metadata":{"name":${JSON.stringify(name)},${more}`;
/** Almost valid objects are nested deeper than random ones. */
const nearly = fc.oneof(
  document,
  document.map((value) => `${named("f", `"labels":${value}}}`)}`),
  document.map((value) => `${named("f", `"annotations":{"__proto__":"x"},"managedFields":${value}}}`)}`),
  document.map((value) => `${named("f", `"finalizers":${value}},"data":{"constructor":"x"}}`)}`),
  document.map((value) => `${named("f", `"__proto__":{"polluted":true}},"data":${value}}`)}`),
  document.map(
    (value) => `${named("f", `"ownerReferences":${value}},"spec":{"containers":${value}},"status":${value}}`)}`,
  ),
);

/** Valid except for their keys, so they are stored, read back, merged and printed. */
const textMap = fc
  .array(fc.tuple(fc.constantFrom(...evilKeys, "a", "b"), fc.constantFrom("x", "", "polluted")), { maxLength: 4 })
  .map((pairs) => objectText(pairs.map(([key, text]) => [key, JSON.stringify(text)])));
const valid = fc.tuple(textMap, textMap, textMap).map(([labels, annotations, data]) => {
  const metadata = `{"name":"f","generateName":"f-","labels":${labels},"annotations":${annotations}}`;
  const spec = '"spec":{"containers":[{"name":"main","image":"example.com/main:1"}]}';
  return `{"metadata":${metadata},"data":${data},${spec}}`;
});

const bytesOf = (text: string) => new TextEncoder().encode(text);
const withMagic = fc.uint8Array({ maxLength: 80 }).map((bytes) => new Uint8Array([0x6b, 0x38, 0x73, 0, ...bytes]));
const body = fc.oneof(
  fc.tuple(fc.constant("application/json"), nearly.map(bytesOf)),
  fc.tuple(fc.constantFrom("application/json", "application/yaml"), valid.map(bytesOf)),
  fc.tuple(fc.constant("application/yaml"), fc.oneof(nearly, fc.string(), yamlTricks()).map(bytesOf)),
  fc.tuple(fc.constant(protobuf), withMagic),
  fc.tuple(
    fc.constant("application/cbor"),
    fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      nearly.map((text) => new Uint8Array(encode(JSON.parse(text)))),
    ),
  ),
  fc.tuple(fc.string({ maxLength: 20 }).map(headerText), fc.uint8Array({ maxLength: 30 })),
);

function yamlTricks(): fc.Arbitrary<string> {
  return fc.constantFrom(
    "a: &a [*a]",
    "<<: {__proto__: {polluted: true}}",
    "__proto__:\n  polluted: true",
    "!!js/function 'x'",
    "a: 0o17\nb: 1:20\nc: 1e999",
    "%YAML 9.9\n---\n",
    "---\na: 1\n---\nb: 2",
    "? [a]\n: b",
    `${"[".repeat(5_000)}`,
    "a: &x {b: 1}\nc: {<<: *x, <<: *x}",
  );
}

/** Returns a text that HTTP/2 allows in a header. */
function headerText(text: string): string {
  return [...text].filter((letter) => letter > " " && letter < "\x7f").join("");
}

const segment = fc.oneof(
  fc.constantFrom("api", "apis", "v1", "watch", "proxy", "namespaces", "default", "configmaps", "pods", "a", "status"),
  fc.constantFrom("..", ".", "", "%2e%2e", "%2f", "%00", "%", "%zz", "%ff", "__proto__", "constructor", "toString"),
  fc.constantFrom("coordination.k8s.io", "leases", "metrics", "livez", "openapi", "v3", "events.k8s.io", "nodes"),
  fc.webSegment(),
);
const path = fc.array(segment, { maxLength: 8 }).map((segments) => `/${segments.join("/")}`);
const parameter = fc.constantFrom(
  "labelSelector",
  "fieldSelector",
  "continue",
  "limit",
  "dryRun",
  "fieldValidation",
  "fieldManager",
  "force",
  "pretty",
  "includeObject",
  "gracePeriodSeconds",
  "propagationPolicy",
  "orphanDependents",
  "sendInitialEvents",
  "resourceVersionMatch",
  "allowWatchBookmarks",
  "timeout",
  "exclude",
  "verbose",
  "__proto__",
  "constructor",
);
const selectorPiece = fc.constantFrom(
  "a",
  "in",
  "notin",
  "(",
  ")",
  ",",
  "=",
  "!",
  ">",
  "<",
  " ",
  "5",
  "/",
  "\\",
  "__proto__",
);
const selector = fc.array(selectorPiece, { maxLength: 10 }).map((pieces) => pieces.join(""));
const token = fc
  .oneof(
    fc.record({ v: fc.constantFrom<unknown>("meta.k8s.io/v1", "x", null, {}), rv: leaf, start: fc.oneof(leaf, word) }),
    document,
  )
  .map((value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url"));
const value = fc.oneof(
  fc.string({ maxLength: 12 }),
  selector,
  token,
  fc.constantFrom(
    "All",
    "Strict",
    "Exact",
    "NotOlderThan",
    "0",
    "1",
    "-1",
    "9".repeat(25),
    "Object",
    "true",
    shortestDeadline,
    "5m",
  ),
);
const pair = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(parameter, value).map(([name, text]) => `${name}=${encoded(text)}`) },
  { weight: 1, arbitrary: fc.constantFrom("resourceVersion=0", "resourceVersion=1", "resourceVersion=3") },
);
/** Returns few parameters in most cases, because one bad parameter hides the effects of the others. */
const query = fc
  .oneof(fc.array(pair, { maxLength: 1 }), fc.array(pair, { maxLength: 1 }), fc.array(pair, { maxLength: 4 }))
  .map((pairs) => pairs.join("&"));

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

const method = fc.constantFrom("GET", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "NOPE");
const accept = fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: acceptText() });

function acceptText(): fc.Arbitrary<string | undefined> {
  return fc.oneof(
    fc.constantFrom(
      protobuf,
      "application/yaml",
      "application/cbor",
      "application/json;as=Table;g=meta.k8s.io;v=v1",
      "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
      "application/json;as=APIGroupDiscoveryList;g=apidiscovery.k8s.io;v=v2",
      "*/*;q=x",
    ),
    fc.string({ maxLength: 30 }).map(headerText),
  );
}

/** Limits the time of every watch. */
const bounded = (text: string) => `${text}${text === "" ? "" : "&"}timeoutSeconds=1`;
const objects = fc.constantFrom(
  "/api/v1/namespaces/default/configmaps",
  "/api/v1/namespaces/default/pods",
  "/api/v1/namespaces/default/secrets",
  "/api/v1/namespaces/default/events",
  "/api/v1/nodes",
  "/api/v1/namespaces/default/services",
  "/apis/coordination.k8s.io/v1/namespaces/default/leases",
  "/apis/apps/v1/namespaces/default/deployments",
  "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
  "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
  "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
);
/** Requests that are answered without storing anything. */
const questions = fc.constantFrom(
  "/api/v1/namespaces/default/pods/patched/eviction",
  "/api/v1/namespaces/default/pods/patched/binding",
  "/api/v1/namespaces/default/serviceaccounts/default/token",
  "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
  "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews",
  "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
  "/apis/authentication.k8s.io/v1/tokenreviews",
  "/apis/authentication.k8s.io/v1/selfsubjectreviews",
);

const core = "/api/v1/namespaces/default/";
/** Fixed by `SEED=<n>`; fast-check prints the seed of a failure. */
const options = {
  numRuns: requestsPerProperty,
  ...(Bun.env.SEED === undefined ? {} : { seed: Number(Bun.env.SEED) }),
  ...(campaign === undefined ? { interruptAfterTimeLimit: 2_000 } : {}),
};

test(
  "no path and no query is answered with a fault of the server",
  async () => {
    await fc.assert(
      fc.asyncProperty(method, path, query, accept, async (verb, target, text, accepted) => {
        // A delete of everything would also delete the object that proves that the server is alive.
        const safe = verb === "DELETE" ? "GET" : verb;
        await expectClientsFault({
          method: safe,
          path: `${target}?${bounded(text)}`,
          ...(accepted === undefined || accepted === "" ? {} : { accept: accepted }),
        });
      }),
      options,
    );
    await expectAlive();
  },
  timeoutMs,
);

test(
  "no query of a collection is answered with a fault of the server",
  async () => {
    await fc.assert(
      fc.asyncProperty(objects, query, fc.boolean(), async (target, text, list) => {
        await expectClientsFault({ method: list ? "GET" : "HEAD", path: `${target}?${bounded(text)}` });
      }),
      options,
    );
    await expectAlive();
  },
  timeoutMs,
);

test(
  "no query of a watch is answered with a fault of the server, and every watch ends",
  async () => {
    await fc.assert(
      fc.asyncProperty(objects, fc.array(query, { minLength: 50, maxLength: 50 }), async (target, queries) => {
        const watches = queries.map((text) => ({ method: "GET", path: `${target}?watch=1&${bounded(text)}` }));
        await Promise.all(watches.map(expectClientsFault));
      }),
      { ...options, numRuns: 2, endOnFailure: true },
    );
    await expectAlive();
  },
  timeoutMs,
);

test(
  "no body of a create, update or delete is answered with a fault of the server",
  async () => {
    const verbs = fc.constantFrom(
      ["POST", ""],
      ["PUT", "/f"],
      ["PUT", "/f/status"],
      ["DELETE", "/f"],
      ["DELETE", "/g"],
    );
    const target = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.tuple(objects, verbs).map(([path, [method, rest]]) => ({ method, path: `${path}${rest}` })),
      },
      { weight: 1, arbitrary: questions.map((path) => ({ method: "POST", path })) },
    );
    await fc.assert(
      fc.asyncProperty(target, body, query, accept, async ({ method, path }, [type, bytes], text, accepted) => {
        await expectClientsFault({
          method: method as string,
          path: `${path}?${text}`,
          type,
          body: bytes,
          ...(accepted === undefined || accepted === "" ? {} : { accept: accepted }),
        });
      }),
      options,
    );
    await expectAlive();
  },
  timeoutMs,
);

test(
  "no patch is answered with a fault of the server",
  async () => {
    const pointer = fc.array(word, { maxLength: 4 }).map((words) => words.map((text) => `/${text}`).join(""));
    const operation = fc
      .tuple(fc.constantFrom("add", "remove", "replace", "move", "copy", "test", "x"), pointer, pointer, document)
      .map(
        ([op, at, from, text]) =>
          `{"op":"${op}","path":${JSON.stringify(at)},"from":${JSON.stringify(from)},"value":${text}}`,
      );
    const patch = fc.oneof(
      fc.tuple(
        fc.constant(jsonPatch),
        fc.array(operation, { maxLength: 5 }).map((all) => `[${all.join()}]`),
      ),
      fc.tuple(fc.constantFrom(mergePatch, strategicPatch), nearly),
      fc.tuple(
        fc.constantFrom(mergePatch, strategicPatch),
        valid.map((text) => text.replace('"name":"f",', "")),
      ),
      fc.tuple(fc.constantFrom(jsonPatch, mergePatch, strategicPatch, "application/apply-patch+yaml"), fc.string()),
    );
    const paths = fc.constantFrom(
      ...["configmaps/patched", "pods/patched", "pods/patched/status", "secrets/patched"].map((at) => core + at),
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/patched.example.com",
      "/apis/rbac.authorization.k8s.io/v1/clusterroles/patched",
      `${core}services/kubernetes`,
    );
    for (const resource of ["configmaps", "secrets"]) {
      await server.create(core + resource, { metadata: { name: "patched" } });
    }
    await server.create("/apis/rbac.authorization.k8s.io/v1/clusterroles", { metadata: { name: "patched" } });
    await server.create(`${core}pods`, {
      metadata: { name: "patched" },
      spec: { containers: [{ name: "main", image: "example.com/main:1" }] },
    });
    await fc.assert(
      fc.asyncProperty(paths, patch, query, async (target, [type, text], parameters) => {
        await expectClientsFault({
          method: "PATCH",
          path: `${target}?${parameters}`,
          type,
          body: bytesOf(text),
        });
      }),
      options,
    );
    await expectAlive();
  },
  timeoutMs,
);
