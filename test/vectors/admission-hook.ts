import type { JsonObject, JsonValue } from "../../src/api/json.ts";
import { objectOf, textOf } from "../../src/api/json-reading.ts";
import { TlsService } from "../integration/tls-service.ts";

/** A review in the form of transcripts. */
interface Review extends JsonObject {
  /** `/<behaviour>`. */
  readonly path: string;
  readonly query: string;
  readonly headers: JsonObject;
  readonly body: JsonObject;
}

/** Longer than the longest timeout of a recorded webhook, which is one second. */
const slowMs = 2_500;
const longWarning = "x".repeat(300);

/** The admission webhook of the transcripts. The last segment of the path selects its behaviour. */
export class AdmissionHook implements AsyncDisposable {
  readonly #service: TlsService;
  readonly #reviews = new Map<string, Review[]>();

  constructor() {
    this.#service = new TlsService((request) => this.#answer(request), "127.0.0.1");
  }

  /** Returns the body of a recorded request with the address of this hook for one scenario. */
  addressed(body: string, scenario: string): string {
    return body
      .replaceAll("https://127.0.0.1:PORT/", `${this.#service.url}/${scenario}/`)
      .replaceAll('"CA"', JSON.stringify(btoa(this.#service.ca)));
  }

  /** Returns an answer in which the placeholders of a recorded one replace this hook's address. */
  anonymous<T extends JsonValue>(answer: T, scenario: string): T {
    const port = new URL(this.#service.url).port;
    const text = JSON.stringify(answer).replaceAll(`127.0.0.1:${port}`, "127.0.0.1:PORT");
    return JSON.parse(text.replaceAll(`/${scenario}/`, "/")) as T;
  }

  /** Takes the reviews received since the last call. */
  takeReviews(scenario: string): readonly Review[] {
    const reviews = this.#reviews.get(scenario) ?? [];
    this.#reviews.delete(scenario);
    return reviews;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#service[Symbol.asyncDispose]();
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const [, scenario = "", behaviour = ""] = pathname.split("/");
    const body = (await request.json()) as JsonObject;
    const headers: JsonObject = {};
    for (const name of ["Content-Type", "Accept", "User-Agent"]) {
      const value = request.headers.get(name);
      if (value !== null) headers[name] = value;
    }
    const reviews = this.#reviews.get(scenario) ?? [];
    this.#reviews.set(scenario, [...reviews, { path: `/${behaviour}`, query: search.slice(1), headers, body }]);
    if (behaviour === "slow") await Bun.sleep(slowMs);
    return answerAs(behaviour, body);
  }
}

function answerAs(behaviour: string, review: JsonObject): Response {
  const { apiVersion = "" } = review;
  const uid = textOf(objectOf(review["request"])["uid"]);
  const say = (response: JsonObject) =>
    Response.json({ apiVersion, kind: "AdmissionReview", response: { uid, ...response } });
  const deny = (more: JsonObject = {}) => say({ allowed: false, ...more });
  const patch = (...operations: JsonObject[]) =>
    say({ allowed: true, patchType: "JSONPatch", patch: btoa(JSON.stringify(operations)) });
  const text = (body: string, status = 200) =>
    new Response(body, { status, headers: { "content-type": "application/json" } });
  const answers: Readonly<Record<string, () => Response>> = {
    allow: () => say({ allowed: true }),
    audit: () => say({ allowed: true, auditAnnotations: { k: "v" } }),
    deny: () => deny(),
    denycode: () => deny({ status: { code: 418 } }),
    denydetails: () =>
      deny({
        status: {
          message: "m",
          reason: "Invalid",
          code: 422,
          details: { causes: [{ field: "data", message: "c", reason: "FieldValueInvalid" }] },
        },
      }),
    denymessage: () => deny({ status: { message: "not today", code: 402, reason: "Because" } }),
    denysuccess: () => deny({ status: { status: "Success", message: "odd", code: 200 } }),
    denywarn: () => deny({ warnings: ["w"] }),
    empty: () => text(""),
    error: () => text("broken", 500),
    kind: () => Response.json({ apiVersion: "v1", kind: "Pod" }),
    none: () => Response.json({ apiVersion, kind: "AdmissionReview" }),
    notfound: () => text("", 404),
    notjson: () => text("hello"),
    patch: () => patch({ op: "add", path: "/metadata/labels", value: { hooked: "yes" } }),
    patchbad: () => patch({ op: "remove", path: "/nothing" }),
    patchdata: () => patch({ op: "add", path: "/data/hooked", value: "yes" }),
    patchempty: () => say({ allowed: true, patchType: "JSONPatch" }),
    patchname: () => patch({ op: "replace", path: "/metadata/name", value: "renamed" }),
    patchnotjson: () => say({ allowed: true, patchType: "JSONPatch", patch: btoa("x") }),
    patchnotype: () => say({ allowed: true, patch: btoa("[]") }),
    patchtype: () => patch({ op: "add", path: "/data", value: 5 }),
    patchunknown: () => patch({ op: "add", path: "/zzz", value: 5 }),
    slow: () => say({ allowed: true }),
    uid: () => Response.json({ apiVersion, kind: "AdmissionReview", response: { uid: "other", allowed: true } }),
    unauthorized: () =>
      Response.json({ kind: "Status", apiVersion: "v1", status: "Failure", message: "no", code: 401 }, { status: 401 }),
    version: () =>
      Response.json({
        apiVersion: "admission.k8s.io/v9",
        kind: "AdmissionReview",
        response: { uid, allowed: true },
      }),
    warn: () => say({ allowed: true, warnings: ["first warning", 'second "quoted" warning', longWarning] }),
  };
  const answer = answers[behaviour];
  if (answer === undefined) throw new Error(`transcripts have no hook that answers as ${behaviour}`);
  return answer();
}
