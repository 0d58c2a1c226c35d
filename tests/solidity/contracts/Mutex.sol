// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// A lock around a call of unknown code.
interface Unknown {
    function run() external;
}

contract Mutex {
    uint x;
    bool lock;

    modifier locked() {
        require(!lock);
        lock = true;
        _;
        lock = false;
    }

    function set(uint value) public locked {
        x = value;
    }

    function unlocked(uint value) public {
        x = value;
    }

    function run(Unknown code) public locked {
        uint before = x;
        code.run();
        assert(before == x); // expect: unsafe
    }
}

contract AllLocked {
    uint x;
    bool lock;

    modifier locked() {
        require(!lock);
        lock = true;
        _;
        lock = false;
    }

    function set(uint value) public locked {
        x = value;
    }

    function run(Unknown code) public locked {
        uint before = x;
        code.run();
        assert(before == x); // expect: safe
    }
}
