// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// An invariant over transactions: the counter is even and bounded.
contract Counter {
    uint x;

    function up() public {
        if (x < 10)
            x = x + 2;
    }

    function reset() public {
        x = 0;
    }

    function bounded() public view {
        assert(x <= 11); // expect: safe
    }

    function small() public view {
        assert(x < 6); // expect: unsafe
    }
}
