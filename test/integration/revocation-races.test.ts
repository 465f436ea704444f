import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { random, seed } from "../../raft/testing/seed.ts";
import { eventually, MemberProcess } from "./member-process.ts";

const root = mkdtempSync(join(tmpdir(), "quorate-revocation-"));
const members: MemberProcess[] = [];
const startMsMax = 120_000;
const raceMsMax = 120_000;
const rounds = 4;

beforeAll(async () => {
  for (const name of ["a", "b", "c"]) members.push(await MemberProcess.create(root, name));
  const [first, ...others] = members as [MemberProcess, ...MemberProcess[]];
  await first.start(["cluster", "init"]);
  const invitation = await first.invitation();
  for (const member of others) await member.start(invitation);
  await succeeds("POST", "/api/v1/namespaces", { metadata: { name: "races" } });
  await succeeds("POST", roles, { metadata: { name: "reader" }, rules: [reading] });
}, startMsMax);
afterAll(async () => {
  await Promise.all(members.map((member) => member.stop("SIGKILL")));
  rmSync(root, { recursive: true });
});

const reading = { apiGroups: [""], resources: ["configmaps"], verbs: ["list"] };
const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/races";
const roles = `${rbac}/roles`;
const bindings = `${rbac}/rolebindings`;
const accounts = "/api/v1/namespaces/races/serviceaccounts";
const used = "/api/v1/namespaces/races/configmaps";

function anyMember(): MemberProcess {
  return members[Math.floor(random() * members.length)] as MemberProcess;
}

async function succeeds(method: string, path: string, body?: object): Promise<any> {
  const { code, json } = await anyMember().request(method, path, body);
  expect({ path, code: Math.floor(code / 100), message: json.message }).toEqual({ path, code: 2, message: undefined });
  return json;
}

const codeOf = async (member: MemberProcess, token: string): Promise<number> => {
  const response = await member.fetch("GET", used, { token });
  await response.arrayBuffer();
  return response.status;
};

/** Uses a token on one replica, one request after another. */
class User {
  readonly codes: number[] = [];
  readonly #done: Promise<void>;
  #isOver = false;

  constructor(member: MemberProcess, token: string) {
    this.#done = (async () => {
      while (!this.#isOver) this.codes.push(await codeOf(member, token));
    })();
  }

  async stop(): Promise<readonly number[]> {
    this.#isOver = true;
    await this.#done;
    return this.codes;
  }
}

/** Makes an account that may list, and returns its token, which works everywhere. */
async function grant(name: string): Promise<string> {
  await succeeds("POST", accounts, { metadata: { name } });
  const subjects = [{ kind: "ServiceAccount", name, namespace: "races" }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" };
  await succeeds("POST", bindings, { metadata: { name }, subjects, roleRef });
  const { status } = await succeeds("POST", `${accounts}/${name}/token`, { spec: {} });
  for (const member of members) {
    await eventually(async () => ((await codeOf(member, status.token)) === 200 ? true : undefined));
  }
  return status.token;
}

test.each([
  ["a grant", bindings, 403],
  ["an account with its tokens", accounts, 401],
] as const)(
  `%s that is removed on one replica ends on all, also on one that was paused (seed ${seed})`,
  async (_what, collection, refusal) => {
    for (let round = 0; round < rounds; round++) {
      const name = `user-${refusal}-${round}`;
      const token = await grant(name);
      const isPaused = round % 2 === 1;
      const users = members.map((member) => new User(member, token));
      const paused = members[2] as MemberProcess;
      if (isPaused) paused.signal("SIGSTOP");
      const remover = members[Math.floor(random() * 2)] as MemberProcess;
      await eventually(async () => {
        const { code } = await remover.request("DELETE", `${collection}/${name}`);
        return code === 200 || code === 404 ? true : undefined;
      });
      // The replica that removed it refuses at once.
      expect(await codeOf(remover, token)).toBe(refusal);
      if (isPaused) paused.signal("SIGCONT");
      for (const member of members) {
        // A replica that shows the removal enforces it.
        await eventually(async () =>
          (await member.request("GET", `${collection}/${name}`)).code === 404 ? true : undefined,
        );
        expect(await codeOf(member, token)).toBe(refusal);
      }
      for (const user of users) {
        const codes = await user.stop();
        const first = codes.indexOf(refusal);
        const before = codes.slice(0, first === -1 ? undefined : first);
        // A replica that has lost its leader may say so.
        expect(before.filter((code) => code !== 200 && code !== 504)).toEqual([]);
        // Once refused, a token is never accepted again.
        if (first !== -1) expect(new Set(codes.slice(first))).toEqual(new Set([refusal]));
      }
    }
  },
  raceMsMax,
);
