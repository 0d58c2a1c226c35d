// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// Grants that become free with time: a mapping to structs, arithmetic with limits.
contract Vesting {
    struct Grant {
        uint total;
        uint taken;
    }

    mapping(address => Grant) grants;

    function grant(address to, uint total) public {
        require(grants[to].total == 0 && total > 0);
        grants[to] = Grant(total, 0);
    }

    function take(uint amount) public {
        Grant memory own = grants[msg.sender];
        require(amount <= own.total - own.taken);
        own.taken += amount;
        grants[msg.sender] = own;
        assert(grants[msg.sender].taken <= grants[msg.sender].total); // expect: safe
    }

    function within(address who) public view {
        assert(grants[who].taken <= grants[who].total); // expect: safe
    }

    function untouched(address who) public view {
        assert(grants[who].taken == 0); // expect: unsafe
    }
}
