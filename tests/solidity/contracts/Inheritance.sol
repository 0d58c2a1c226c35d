// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// Virtual functions, modifiers and constructors of several levels.
abstract contract Limited {
    uint immutable limit;
    uint value;

    constructor(uint most) {
        limit = most;
    }

    modifier within(uint next) {
        require(next <= limit);
        _;
    }

    function step() internal view virtual returns (uint);

    function advance() public within(value + step()) {
        value += step();
    }
}

contract Ones is Limited {
    constructor() Limited(3) {}

    function step() internal pure override returns (uint) {
        return 1;
    }

    function check() public view {
        assert(value <= 3); // expect: safe
    }
}

contract Doubles is Limited(7) {
    function step() internal pure virtual override returns (uint) {
        return 2;
    }

    function check() public view {
        assert(value != 6); // expect: unsafe
    }
}
