// The types of the protocol's library. It is loaded as an ES module, so its types are those of the
// ES module.

export type Library = typeof import('@modelcontextprotocol/server', { with: {
  'resolution-mode': 'import',
}});
export type Server = InstanceType<Library['Server']>;
export type CallToolResult = import('@modelcontextprotocol/server', { with: {
  'resolution-mode': 'import',
}}).CallToolResult;
