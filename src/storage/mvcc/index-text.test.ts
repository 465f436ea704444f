import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ObjectIndex } from "../../api/entry.ts";
import { encodeIndexText, IndexCache } from "./index-text.ts";

const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("[", "]]", ",[", "[]", '"', "\\", "u005b"));
const map = fc.option(fc.dictionary(text, text, { minKeys: 1, maxKeys: 3 }), { nil: undefined });
const owner = fc.record({ uid: text, controller: fc.boolean(), blockOwnerDeletion: fc.boolean() });
/** An index with a uid of its own, as that of a body that does not name it. */
type OwnIndex = ObjectIndex & { readonly uid: string };

const index: fc.Arbitrary<OwnIndex> = fc.record({
  apiVersion: text.filter((apiVersion) => !apiVersion.includes(" ")),
  uid: text,
  labels: map,
  fields: map,
  owners: fc.option(fc.array(owner, { minLength: 1, maxLength: 3 }), { nil: undefined }),
});

/** The index code of format 2. */
const former = {
  encode: ({ apiVersion, labels, fields }: ObjectIndex) => JSON.stringify([apiVersion, labels ?? 0, fields ?? 0]),
  decode(written: string): unknown {
    const [apiVersion, labels, fields] = JSON.parse(written);
    return [apiVersion, labels, fields];
  },
};

function equal(read: ObjectIndex, written: ObjectIndex): void {
  // Maps come back without a prototype.
  expect(JSON.stringify(read)).toBe(JSON.stringify(written));
}

test("an index is read as it was written", () => {
  const indexes = new IndexCache();
  fc.assert(
    fc.property(index, (written) => {
      const encoded = encodeIndexText(written);
      equal(indexes.index(written.uid, encoded), written);
      equal(indexes.index(written.uid, encoded), written);
    }),
  );
});

test("the schema of a custom resource is read as it was written", () => {
  const indexes = new IndexCache();
  fc.assert(
    fc.property(index, (rest) => {
      const written = { ...rest, form: "5f3c" };
      equal(indexes.index(written.uid, encodeIndexText(written)), written);
    }),
  );
});

test("equal parts of two indexes become one object", () => {
  const indexes = new IndexCache();
  const make = (uid: string): OwnIndex => {
    const owners = [{ uid: "owner", controller: true, blockOwnerDeletion: false }];
    return { apiVersion: "a.com/v1", uid, labels: { app: "web" }, fields: undefined, owners, form: "5f3c" };
  };
  const body = Buffer.from("{}");
  const [first, second] = [indexes.shared(make("1"), body), indexes.shared(make("2"), body)];
  expect(second).toEqual(make("2"));
  expect(second.labels).toBe(first.labels);
  expect(second.owners).toBe(first.owners);
});

test("objects that differ only in a uid that their bodies name share an index", () => {
  const bodyOf = (uid: string) => Buffer.from(`{"metadata":{"name":"a","uid":"${uid}","resourceVersion":"7"}}`);
  const indexes = new IndexCache();
  fc.assert(
    fc.property(index, (written) => {
      const encoded = encodeIndexText(written);
      const [first, second] = ["1", "2"].map((uid) => indexes.index(uid, encoded, bodyOf(uid)));
      equal(first as ObjectIndex, { ...written, uid: undefined });
      expect(second).toBe(first as ObjectIndex);
      // The record decides, whatever the body says.
      equal(indexes.index(`${written.uid}3`, encoded, bodyOf("2")), { ...written, uid: `${written.uid}3` });
    }),
  );
});

describe("beside programs of the former format", () => {
  const body = Buffer.from(
    '{"metadata":{"name":"a","ownerReferences":[{"uid":"owner","controller":true,"blockOwnerDeletion":true}]}}',
  );
  const owners = [{ uid: "owner", controller: true, blockOwnerDeletion: true }];

  test("they read all that they know", () => {
    fc.assert(
      fc.property(index, (written) => {
        expect(former.decode(encodeIndexText(written))).toEqual(former.decode(former.encode(written)));
      }),
    );
  });

  test("their entries get their owners from the body", () => {
    const indexes = new IndexCache();
    fc.assert(
      fc.property(index, (written) => {
        equal(indexes.index(written.uid, former.encode(written), body), { ...written, owners });
        equal(indexes.index(written.uid, former.encode(written), Buffer.from("{}")), { ...written, owners: undefined });
      }),
    );
  });

  test("the body is asked for nothing else", () => {
    const plain = { apiVersion: "v1", uid: "u", labels: undefined, fields: undefined, owners: undefined };
    expect(new IndexCache().index("u", encodeIndexText(plain), body).owners).toBeUndefined();
  });
});

test("objects of one controller share labels and owners", () => {
  const indexes = new IndexCache();
  const written = {
    apiVersion: "v1",
    uid: "",
    labels: { app: "web" },
    fields: undefined,
    owners: [{ uid: "owner", controller: true, blockOwnerDeletion: true }],
  };
  const [one, other] = [encodeIndexText(written), encodeIndexText({ ...written, owners: [] })];
  const first = indexes.index("a", one);
  expect(indexes.index("b", one).owners).toBe(first.owners);
  expect(indexes.index("c", other).labels).toBe(first.labels);
});
