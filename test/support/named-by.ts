/** By the name of a field: records of which kind it names. */
export const kindByFieldName: Record<string, string> = {
  siteId: "sites",
  contactId: "contacts",
  listId: "lists",
  lists: "lists",
  tagId: "tags",
  segmentId: "segments",
  folderId: "template-folders",
  templateId: "templates",
  sendingConfigId: "sending-configs",
  campaignId: "campaigns",
  sequenceId: "sequences",
  formId: "forms",
};
