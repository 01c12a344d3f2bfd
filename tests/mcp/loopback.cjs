// Preloaded into a server from npm: it listens on 127.0.0.1 alone, on a free port, which it puts into
// the file $PORT_FILE (or on $PORT when it is not 0).
'use strict';
const fs = require('fs');
const net = require('net');
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (port, ...rest) {
    const done = rest.find((x) => typeof x === 'function');
    return listen.call(this, { port: Number(port) || 0, host: '127.0.0.1' }, () => {
        fs.writeFileSync(process.env.PORT_FILE + '.new', String(this.address().port));
        fs.renameSync(process.env.PORT_FILE + '.new', process.env.PORT_FILE);
        if (done) done();
    });
};
