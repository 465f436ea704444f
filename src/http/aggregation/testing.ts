import type { APIService } from "../../api/types/apiregistration-v1.ts";
import type { BackendDocument } from "../../client/aggregation/aggregated-backend.ts";
import type { RemoteApi } from "../../client/aggregation/remote-api.ts";
import type { ServedApi, ServedApis, ServedGroup } from "../../kinds/apiregistration/api-services.ts";

/** The service of the extension servers in these tests. */
export function remoteApi(name: string): RemoteApi {
  return { namespace: "default", name, port: 443, authorities: undefined, insecure: true };
}

/** @param service name of the service; undefined for this server */
export function servedApi(
  apiVersion: string,
  service: string | undefined,
  { isAvailable = true, groupPriority = 1_000, versionPriority = 15 } = {},
): ServedApi {
  const [group, version] = apiVersion.split("/") as [string, string];
  const spec = { group, version, groupPriorityMinimum: groupPriority, versionPriority };
  const apiService = { metadata: { name: `${version}.${group}` }, spec } as APIService;
  return { group, version, apiService, isAvailable, remote: service === undefined ? undefined : remoteApi(service) };
}

/** APIServices that the test changes. */
export class FakeApis implements ServedApis {
  #apis: readonly ServedApi[];
  #generation = 0;
  readonly #followers = new Set<() => void>();

  constructor(...apis: readonly ServedApi[]) {
    this.#apis = apis;
  }

  set(...apis: readonly ServedApi[]): void {
    this.#apis = apis;
    this.#generation++;
    for (const run of this.#followers) run();
  }

  find(group: string, version: string): ServedApi | undefined {
    return this.#apis.find((api) => api.group === group && api.version === version);
  }

  hasRemotes(): boolean {
    return this.#apis.some(({ remote }) => remote !== undefined);
  }

  groups(): readonly ServedGroup[] {
    return [...Map.groupBy(this.#apis, ({ group }) => group)].map(([group, versions]) => ({ group, versions }));
  }

  generation(): number {
    return this.#generation;
  }

  follow(run: () => void): Disposable {
    this.#followers.add(run);
    return { [Symbol.dispose]: () => void this.#followers.delete(run) };
  }
}

/** A request that a backend has received. */
export interface Asked {
  readonly service: string;
  readonly target: string;
  readonly user: string;
  readonly headers: Readonly<Record<string, string>>;
}

type Answer = Omit<BackendDocument, "headers" | "body"> & {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

/** Backends that answer as a test decides, or never. */
export class FakeBackends {
  readonly asked: Asked[] = [];
  answer: (asked: Asked) => Answer | undefined;

  constructor(answer: (asked: Asked) => Answer | undefined) {
    this.answer = answer;
  }

  async get(
    { name: service }: RemoteApi,
    {
      target,
      user,
      headers,
    }: { target: string; user: { name: string }; headers: readonly (readonly [string, string])[] },
  ): Promise<BackendDocument> {
    const asked = { service, target, user: user.name, headers: Object.fromEntries(headers) };
    this.asked.push(asked);
    const answer = this.answer(asked);
    if (answer === undefined) return new Promise(() => {});
    const body = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body ?? {});
    return { code: answer.code, headers: Object.entries(answer.headers ?? {}), body: Buffer.from(body) };
  }
}

/** Lets all pending work end that waits for nothing else. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
