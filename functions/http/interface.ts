// The OpenAPI document of all groups. The build puts the finished document in this module's place, so that a function that
// needs the document does not carry the code of every group.
export const document = async (): Promise<Document> => {
  const [{ openapi }, { groups }] = await Promise.all([import("../../shared/http/openapi.ts"), import("./index.ts")]);
  return openapi(groups);
};

export type Document = ReturnType<typeof import("../../shared/http/openapi.ts").openapi>;
