/** The kind of record that a field refers to, by the name of the field. */
export const kindByFieldName: Record<string, string> = {
  siteId: "sites",
  siteIds: "sites",
  contactId: "contacts",
  listId: "lists",
  lists: "lists",
  tagId: "tags",
  topicId: "topics",
  topicIds: "topics",
  segmentId: "segments",
  folderId: "template-folders",
  templateId: "templates",
  sendingConfigId: "sending-configs",
  campaignId: "campaigns",
  seriesId: "campaign-series",
  sequenceId: "sequences",
  formId: "forms",
};
