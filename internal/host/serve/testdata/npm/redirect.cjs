// Connections to port FORWARD_FROM of this machine go to port FORWARD_TO, so that a
// client speaks to a forwarder and still names the server in Host and Origin.
"use strict";
const { Socket } = require("node:net");

const { FORWARD_FROM: from, FORWARD_TO: to } = process.env;
const connect = Socket.prototype.connect;
Socket.prototype.connect = function (...args) {
  // net.connect hands its arguments on as one array; its first element are the options.
  const options = Array.isArray(args[0]) ? args[0][0] : args[0];
  if (String(options.port) === from) {
    Object.assign(options, { host: "127.0.0.1", port: to });
  }
  return connect.apply(this, args);
};
