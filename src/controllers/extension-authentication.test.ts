import { expect, test } from "bun:test";
import { extensionAuthentication } from "./extension-authentication.ts";

const ownFrontProxy = { authority: (published: string | undefined) => published ?? "our own" };
const parts = { clientAuthorities: () => "clients", ownFrontProxy };

test("without a front proxy among the flags, this server is published as one", () => {
  const data = extensionAuthentication({ ...parts, frontProxy: undefined });
  const own = {
    "client-ca-file": "clients",
    "requestheader-client-ca-file": "our own",
    "requestheader-allowed-names": '["front-proxy-client"]',
    "requestheader-username-headers": '["X-Remote-User"]',
    "requestheader-uid-headers": '["X-Remote-Uid"]',
    "requestheader-group-headers": '["X-Remote-Group"]',
    "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
  };
  expect(data(undefined)).toEqual(own);
  const metadata = { name: "extension-apiserver-authentication", namespace: "kube-system" };
  const current = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { "requestheader-client-ca-file": "before" } };
  expect(data(current)).toEqual({ ...own, "requestheader-client-ca-file": "before" });
});

test("a front proxy is published as the flags describe it", () => {
  const frontProxy = {
    allowedNames: [],
    usernameHeaders: ["x-user"],
    uidHeaders: ["x-uid"],
    groupHeaders: [],
    extraHeaderPrefixes: [],
    authority: () => "proxies",
  };
  expect(extensionAuthentication({ ...parts, frontProxy })(undefined)).toEqual({
    "client-ca-file": "clients",
    "requestheader-client-ca-file": "proxies",
    "requestheader-allowed-names": "[]",
    "requestheader-username-headers": '["x-user"]',
    "requestheader-uid-headers": '["x-uid"]',
    "requestheader-group-headers": "[]",
    "requestheader-extra-headers-prefix": "[]",
  });
});
